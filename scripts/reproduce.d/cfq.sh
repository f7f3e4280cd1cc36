# shellcheck shell=bash
# The runs of the group cfq for scripts/reproduce, in their order.
# shellcheck disable=SC2154  # data, folder, encoder and the like are scripts/reproduce's

build cfq
made=$folder/cfq-generated
if [[ ${chosen[*]-cfq-parse} == *cfq-parse* ]]; then make_questions "$made" 1; fi
for seed in 1 2 3; do
  for model in edge-transformer transformer universal-transformer; do
    run cfq-parse-$model-s$seed cfq --task parse --preset small-dependency --model $model \
      --data "$made/mcd" --seed $seed
  done
done
# The Edge Transformer's layers are untied above. In the paper they are tied, also in its Table 6.
edge() { run "$1" cfq --task parse --preset small-dependency --data "$made/mcd" "${@:2}"; }
edge cfq-parse-edge-tied-full-s1 --tied --seed 1
for model in edge-transformer transformer lrf; do
  run cfq-semantic-small-$model-s1 cfq --task semantic --preset small-semantic --model $model \
    --data "$data/cfq/mcd1" --seed 1
done
# Last, if time allows; the ledger says which of these were run.
for seed in 2 3; do edge cfq-parse-edge-tied-full-s$seed --tied --seed $seed; done
for seed in 1 2 3; do
  for form in value-ablation attention-ablation; do
    edge cfq-parse-edge-tied-$form-s$seed --tied --attention $form --seed $seed
    edge cfq-parse-edge-untied-$form-s$seed --untied --attention $form --seed $seed
  done
done
for split in 2 3; do
  other() {
    if wanted "cfq-parse-mcd$split-$1"; then make_questions "$made" $split; fi
    run "cfq-parse-mcd$split-$1" cfq --task parse --preset small-dependency --data "$made/mcd$split" "${@:2}"
  }
  for seed in 1 2 3; do
    other edge-tied-full-s$seed --tied --seed $seed
    other edge-untied-full-s$seed --untied --seed $seed
    for form in value-ablation attention-ablation; do
      other edge-tied-$form-s$seed --tied --attention $form --seed $seed
      other edge-untied-$form-s$seed --untied --attention $form --seed $seed
    done
  done
done
# For a GPU: the paper's sizes. Only a part of MCWQ's training set is available, so its figure compares with no
# published one.
paper() { run "cfq-parse-paper-$1" cfq --task parse --preset paper-dependency --data "$made/mcd" "${@:2}"; }
for seed in 1 2 3; do
  paper edge-tied-s$seed --seed $seed
  paper edge-untied-s$seed --seed $seed --untied
done
for model in transformer universal-transformer; do paper $model-s1 --seed 1 --model $model; done
for model in edge-transformer universal-transformer; do
  run cfq-semantic-paper-$model-s1 cfq --task semantic --preset paper-semantic --model $model \
    --data "$data/cfq/mcd1" --seed 1 --memory 24GiB
done
run cfq-mcwq-edge-transformer-s1 cfq --task semantic --preset small-semantic --model edge-transformer \
  --data "$data/cfq/mcwq/mcd1" --seed 1
