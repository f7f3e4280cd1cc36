# shellcheck shell=bash disable=SC2154
# What scripts/smoke-runs trains of cogs.
# Order: 2

smoke cogs cogs --dropout 0.1
smoke cogs-transformer cogs --model transformer
