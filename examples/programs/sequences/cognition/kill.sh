# shellcheck shell=bash disable=SC2154
# What scripts/kill-test kills of cognition.
# Order: 5

run_to_kill cognition cognition train --preset smoke --dropout 0.2 --sentences 200 --updates 130 --evaluate-every 30 \
  --max-length 12
