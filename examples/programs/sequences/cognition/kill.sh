# shellcheck shell=bash disable=SC2154
# The runs of cognition that scripts/kill-test starts and kills.
# Order: 5

run_to_kill cognition cognition train --preset smoke --dropout 0.2 --sentences 200 --updates 130 --evaluate-every 30 \
  --max-length 12
