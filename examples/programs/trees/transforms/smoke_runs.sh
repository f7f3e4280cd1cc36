# shellcheck shell=bash disable=SC2154
# What scripts/smoke-runs trains of tree-transforms.
# Order: 3

smoke tree-transforms tree-transforms
smoke tree-transforms-gumbel tree-transforms --choice gumbel
smoke tree-transforms-gumbel-released tree-transforms --choice gumbel-released
