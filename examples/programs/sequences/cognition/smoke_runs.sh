# shellcheck shell=bash disable=SC2154
# What scripts/smoke-runs trains of cognition.
# Order: 4

smoke cognition cognition --dropout 0.1
smoke cognition-transformer cognition --model transformer
smoke cognition-relative cognition --relative
smoke cognition-dlcl cognition --model dlcl
