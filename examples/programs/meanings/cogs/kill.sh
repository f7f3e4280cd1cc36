# shellcheck shell=bash disable=SC2154
# The runs of cogs that scripts/kill-test starts and kills.
# Order: 2

run_to_kill cogs cogs train --preset smoke --epochs 12 --dropout 0.2
