# shellcheck shell=bash
# The runs of the group clutrr for scripts/reproduce, in their order.
# shellcheck disable=SC2154  # data, folder, encoder and the like are scripts/reproduce's

build clutrr
k234=$data/clutrr/data_db9b8f04
k23=$data/clutrr/regen_k23_35k
paper() { run "$1" clutrr --preset paper-k234 --data "$k234" "${@:2}"; }
for seed in 1 2 3; do paper clutrr-k234-s$seed --seed $seed; done
paper clutrr-k234-value-ablation-s1 --seed 1 --attention value-ablation
run clutrr-k23-s1 clutrr --preset paper-k23 --data "$k23" --seed 1
# The same training with factors of products rounded to bf16.
for seed in 1 2 3; do paper clutrr-k234-bf16-s$seed --precision bf16 --seed $seed; done
# Variants that help at long chains.
for seed in 1 2 3; do
  run clutrr-k234-glued-s$seed clutrr --preset glued-k234 --data "$k234" --seed $seed
  run clutrr-k23-glued-s$seed clutrr --preset glued-k23 --data "$k23" --seed $seed
done
# Which parts of the triangle glued stories need: about an hour of one processor thread each.
augmented() {  # NAME EPOCHS OPTIONS
  run "clutrr-k234-augmented-$1-s1" clutrr --preset paper-k234 --data "$k234" \
    --augment 1 --epochs "$2" --seed 1 "${@:3}"
}
augmented full 20
for form in value-ablation attention-ablation; do augmented $form 20 --attention $form; done
augmented untied 20 --untied
augmented value-ablation-30 30 --attention value-ablation
# For a GPU, except untied-s1. The same with the whole preset, 150 epochs: five to six hours of one processor
# thread each. Untied models have the paper's eight layers, since an update cannot leave out an untied layer.
for seed in 1 2 3; do
  glued() { run "clutrr-k234-glued-$1-s$seed" clutrr --preset glued-k234 --data "$k234" --seed $seed "${@:2}"; }
  for form in value-ablation attention-ablation; do glued $form --attention $form; done
  glued untied --untied --layers 8 --layers-from 0
done
# Last, if time allows; the ledger says which of these were run.
paper clutrr-k234-attention-ablation-s1 --seed 1 --attention attention-ablation
paper clutrr-k234-rat-s1 --seed 1 --model rat
paper clutrr-k234-rrat-s1 --seed 1 --model rrat
paper clutrr-k234-untied-s1 --seed 1 --untied
for seed in 1 2 3; do paper clutrr-k234-gat-s$seed --seed $seed --model gat; done
for seed in 4 5 6 7 8 9 10; do paper clutrr-k234-s$seed --seed $seed; done
for seed in 2 3 4 5 6 7 8 9 10; do
  run clutrr-k23-s$seed clutrr --preset paper-k23 --data "$k23" --seed $seed
done
# The paper's variants, with ten seeds as well.
for seed in 2 3 4 5 6 7 8 9 10; do
  for form in value-ablation attention-ablation; do
    paper clutrr-k234-$form-s$seed --seed $seed --attention $form
  done
  for model in rat rrat; do paper clutrr-k234-$model-s$seed --seed $seed --model $model; done
  paper clutrr-k234-untied-s$seed --seed $seed --untied
done
