# shellcheck shell=bash disable=SC2154
# The runs of clutrr that scripts/kill-test starts and kills.
# Order: 1

run_to_kill clutrr clutrr train --preset smoke --chains 6400 --epochs 5 --dropout 0.2 --average 0.95 --compare rat
