# shellcheck shell=bash disable=SC2154
# The runs of cognition that scripts/smoke-runs trains.
# Order: 4

smoke cognition cognition --dropout 0.1
smoke cognition-transformer cognition --model transformer
smoke cognition-relative cognition --relative
smoke cognition-dlcl cognition --model dlcl
