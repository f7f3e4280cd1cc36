# shellcheck shell=bash disable=SC2154
# What scripts/kill-test kills of tree-transforms.
# Order: 3

run_to_kill tree-transforms tree-transforms train --preset smoke --choice gumbel --dropout 0.2 --depth 8 --skip-deeper \
  --rows 60 --updates 70
