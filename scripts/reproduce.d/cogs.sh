# shellcheck shell=bash
# The runs of the group cogs for scripts/reproduce, in their order.
# shellcheck disable=SC2154  # data, folder, encoder and the like are scripts/reproduce's

build cogs
paper() { run "$1" cogs --preset paper --data "$data/cogs" "${@:2}"; }
for seed in 1 2 3; do paper cogs-s$seed --seed $seed; done
paper cogs-tied-s1 --seed 1 --tied
# The same training with factors of products rounded to bf16.
for seed in 1 2 3; do paper cogs-bf16-s$seed --precision bf16 --seed $seed; done
# Our additions: dropped words, which alone change little, and with them swapped phrases, which help.
for seed in 1 2 3; do
  paper cogs-dropped-s$seed --seed $seed --word-dropout 0.1
  run cogs-swapped-s$seed cogs --preset swapped --data "$data/cogs" --seed $seed
done
# Last, if time allows; the ledger says which of these were run.
paper cogs-attention-ablation-s1 --seed 1 --attention attention-ablation
paper cogs-value-ablation-s1 --seed 1 --attention value-ablation
paper cogs-transformer-s1 --seed 1 --model transformer
paper cogs-universal-s1 --seed 1 --model universal-transformer
paper cogs-positional-s1 --seed 1 --positional
paper cogs-from-parent-s1 --seed 1 --from-parent
for seed in 4 5 6 7 8 9 10; do paper cogs-s$seed --seed $seed; done
