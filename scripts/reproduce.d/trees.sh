# shellcheck shell=bash
# The runs of the group trees for scripts/reproduce, in their order.
# shellcheck disable=SC2154  # data, folder, encoder and the like are scripts/reproduce's

build tree-transforms
if [[ ${chosen[*]-trees-as-sequences} == *trees-as-sequences* ]]; then build pairs; fi
paper() { run "$1" tree-transforms --preset paper "${@:2}"; }
active() { paper "$1" --task active-logical --depth 10 --data "$data/bst/active_logical_ttb" "${@:2}"; }
active trees-active-s1 --seed 1
# The addition of --preset small to the paper's training, softmax that cools down, with the paper's steps and
# data.
active trees-active-cooled-s1 --seed 1 --temperature 10 --cooling 8000
for seed in 1 2 3; do run trees-small-cooled-s$seed tree-transforms --preset small --seed $seed; done
for seed in 1 2 3 4 5 6 7 8 9 10; do
  run trees-robust-active-s$seed tree-transforms --preset small --recipe robust --seed $seed
  run trees-robust-recent-active-s$seed tree-transforms --preset small --recipe robust --recency 4 --seed $seed
done
# The same recipe at the paper's size on the published rows; and the small one, with more steps, on the deeper
# tasks.
for seed in 1 2 3; do
  active trees-robust-published-active-s$seed --recipe robust --seed $seed
  robust() {
    run "$1-s$seed" tree-transforms --preset small --recipe robust --depth 12 --steps 12 \
      --seed "$seed" --task "$2"
  }
  robust trees-robust-passive passive-logical
  robust trees-robust-active-passive active-passive-logical
  robust trees-robust-car-cdr car-cdr-seq
  paper trees-passive-both-s$seed --recipe long --task passive-logical \
    --data "$data/bst/passive_logical_ttb_derived" --seed $seed
done
# The paper's ablations on small models, each in at most three attempts.
ablation() {
  run "trees-small-depth8-$1-s1" tree-transforms --preset small --recipe robust --depth 8 --skip-deeper \
    --attempts 3 --seed 1 "${@:2}"
}
ablation softmax --first-rows 0
ablation gumbel --choice gumbel
ablation gumbel-released --choice gumbel-released
ablation gumbel-operations --operation-choice gumbel
ablation gumbel-arguments --argument-choice gumbel
ablation gumbel-released-arguments --argument-choice gumbel-released
ablation learned --interpreter learned
# Last, if time allows; the ledger says which of these were run. Their data are generated; the data of car-cdr-seq
# replace unpublished ones.
paper trees-passive-s1 --task passive-logical --seed 1
paper trees-active-passive-s1 --task active-passive-logical --seed 1
paper trees-car-cdr-s1 --task car-cdr-seq --seed 1
active trees-learned-s1 --seed 1 --interpreter learned
active trees-gumbel-released-s1 --seed 1 --choice gumbel-released
active trees-gumbel-s1 --seed 1 --choice gumbel
active trees-gumbel-operations-s1 --seed 1 --operation-choice gumbel
active trees-gumbel-released-arguments-s1 --seed 1 --argument-choice gumbel-released
active trees-gumbel-arguments-s1 --seed 1 --argument-choice gumbel
for seed in 2 3 4 5; do active trees-active-s$seed --seed $seed; done
# The paper's Transformer on the same rows, with the settings of its appendix D.2.1. For a GPU, except the small
# ones.
sequences() {  # NAME ARGUMENTS: the arguments of tree-transforms generate
  local rows=$folder/trees-as-sequences-$1
  if wanted "trees-as-sequences-$1-s1" || wanted "trees-as-sequences-small-$1-s1"; then
    make_data "$rows" trees_as_sequences "${@:2}"
  fi
  run "trees-as-sequences-small-$1-s1" pairs --model transformer --preset small --label-smoothing 0 --dropout 0 \
    --updates 1200 --learning-rate 1e-3 --data "$rows" --seed 1
  run "trees-as-sequences-$1-s1" pairs --model transformer --encoder-layers 1 --decoder-layers 3 --width 1024 \
    --hidden 1024 --heads 2 --dropout 0 --label-smoothing 0 --learning-rate 1e-4 --warmup 1000 \
    --schedule linear --updates 30000 --pairs 256 --tokens 20000 --evaluate-every 1000 --data "$rows" --seed 1
}
sequences active --data "$data/bst/active_logical_ttb"
sequences passive --task passive-logical
sequences active-passive --task active-passive-logical
sequences car-cdr --task car-cdr-seq
