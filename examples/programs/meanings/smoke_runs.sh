# shellcheck shell=bash disable=SC2154
# The runs of meanings that scripts/smoke-runs trains.
# Order: 6

# Commands are generated with a fixed seed, so that two builds train on the same ones.
commands=$out/commands
call meanings-generate "$bin/meanings" generate --out "$commands" --count 60
smoke meanings-edges meanings --head edges --dropout 0.1 --data "$commands"
smoke meanings-predicates meanings --lists --list-accuracy 1 --dropout 0.1 --data "$commands"
smoke meanings-anchors meanings --slot-form anchors --data "$commands"
smoke meanings-transformer meanings --model transformer --data "$commands"
