# shellcheck shell=bash disable=SC2154
# What scripts/kill-test kills of cogs.
# Order: 2

run_to_kill cogs cogs train --preset smoke --epochs 12 --dropout 0.2
