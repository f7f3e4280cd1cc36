# shellcheck shell=bash disable=SC2154
# The runs of clutrr that scripts/smoke-runs trains.
# Order: 1

smoke clutrr clutrr --dropout 0.1
smoke clutrr-value-ablation clutrr --attention value-ablation --untied
smoke clutrr-rat clutrr --model rat
smoke clutrr-rrat clutrr --model rrat
smoke clutrr-gat clutrr --model gat
