# shellcheck shell=bash
# The runs of the group meanings for scripts/reproduce, in their order.
# shellcheck disable=SC2154  # data, folder, encoder and the like are scripts/reproduce's

build meanings
queries() {
  run "meanings-queries-$1" meanings --preset cfq-queries --precision bf16 --data "$data/cfq/mcd1" "${@:2}"
}
# The settings were chosen on dev. These three runs score the test part, once.
for seed in 1 2 3; do queries s$seed --seed $seed; done
compared() { queries "$1-s1" --seed 1 --dev-only "${@:2}"; }
compared without-implied-labels --no-implied-labels
compared lists-by-states --lists-after 2
compared without-lists --no-lists
compared from-edges --no-lists --no-implied-labels --head edges
compared transformer --model transformer
compared value-ablation --attention value-ablation
compared attention-ablation --attention attention-ablation
compared anchors --slot-form anchors
compared tied --tied
compared width-32 --width 32
compared inner-dropout --inner-dropout 0.1
compared long --updates 12000
# Only a part of MCWQ's training set is available, so these figures cannot be compared with published ones.
for split in mcd1 mcd2 mcd3 random_split; do
  from=$data/cfq/mcwq/$split name=meanings-mcwq-${split//_/-} to=$folder/mcwq-${split//_/-}
  if wanted "$name-s1" || wanted "$name-transformer-s1"; then
    make_data "$to" link_parts "train=$from/train_partial.tsv.gz" "dev=$from/dev.tsv.gz" "test=$from/test.tsv.gz"
  fi
  of_mcwq() { run "$1" meanings --preset cfq-queries --precision bf16 --data "$to" --seed 1 "${@:2}"; }
  of_mcwq $name-s1
  of_mcwq $name-transformer-s1 --model transformer
done
if [[ ${chosen[*]-slog} == *slog* ]]; then make_data "$folder/slog" slog_parts; fi
from=$data/cogs
if [[ ${chosen[*]-meanings-cogs} == *meanings-cogs* ]]; then
  make_data "$folder/cogs-forms" link_parts "train=$from/train.tsv.gz" "dev=$from/dev.tsv.gz" \
    "test=$from/test.tsv.gz" "test_gen=$from/gen.tsv.gz"
fi
if [[ ${chosen[*]-commands} == *commands* ]]; then make_data "$folder/commands" commands_of; fi
for seed in 1 2 3; do
  # The six layers of the preset were chosen on constructions that were removed from the training part.
  slog() {
    run "meanings-$1" meanings --preset slog --no-word-labels --precision bf16 --data "$folder/slog" \
      --seed $seed "${@:2}"
  }
  slog slog-s$seed
  slog slog-swapped-s$seed --augment 0.5
  cogs() {
    run "meanings-$1" meanings --preset cogs --precision bf16 --data "$folder/cogs-forms" --seed $seed "${@:2}"
  }
  cogs cogs-s$seed
  cogs cogs-learned-labels-s$seed --no-word-labels
  run meanings-commands-s$seed meanings --data "$folder/commands" --seed $seed
done
