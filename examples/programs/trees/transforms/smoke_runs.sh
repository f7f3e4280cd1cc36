# shellcheck shell=bash disable=SC2154
# The runs of tree-transforms that scripts/smoke-runs trains.
# Order: 3

smoke tree-transforms tree-transforms
smoke tree-transforms-gumbel tree-transforms --choice gumbel
smoke tree-transforms-gumbel-released tree-transforms --choice gumbel-released
