# shellcheck shell=bash disable=SC2154
# The runs of cogs that scripts/smoke-runs trains.
# Order: 2

smoke cogs cogs --dropout 0.1
smoke cogs-transformer cogs --model transformer
