# shellcheck shell=bash disable=SC2154
# The runs of tree-transforms that scripts/kill-test starts and kills.
# Order: 3

run_to_kill tree-transforms tree-transforms train --preset smoke --choice gumbel --dropout 0.2 --depth 8 --skip-deeper \
  --rows 60 --updates 70
