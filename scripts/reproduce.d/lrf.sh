# shellcheck shell=bash
# The runs of the group lrf for scripts/reproduce, in their order.
# shellcheck disable=SC2154  # data, folder, encoder and the like are scripts/reproduce's

build cognition
# Each task with fuse-attention in encoder and decoder, and without any; everything else is equal.
both() {  # NAME SEED PROGRAM ARGUMENTS
  run "lrf-$1-s$2" "$3" --preset small --seed "$2" "${@:4}"
  run "plain-$1-s$2" "$3" --preset small --model transformer --seed "$2" "${@:4}"
}
scan() { both "scan-${1/addprim_/add-}" "$2" cognition --task scan --split "$1" --data "$data/scan"; }
cogs() { both cogs-sequence "$1" cognition --task cogs --data "$data/cogs" --updates 10000; }
for seed in 1 2 3; do
  scan length $seed
  scan addprim_jump $seed
  scan mcd1 $seed
  cogs $seed
done
# COGS with the settings of --preset cogs and of its earlier forms, one by one, as they were chosen on held-out words.
# The plain model comes first: without a plain model that generalises, a comparison says nothing.  cogs-long is the
# first form, with a vocabulary for each side and positions as sines.
trained_long() {  # NAME OPTIONS
  run "$1" cognition --preset small --precision bf16 "${@:2}" --encoder-layers 2 --decoder-layers 2 \
    --norm before --label-smoothing 0 --learning-rate 2e-3 --schedule linear --tokens 4096 --epochs 60 \
    --evaluate-every 1500
}
cogs_long() { trained_long "$1" --task cogs --data "$data/cogs" "${@:2}"; }
shared=(--joined-dictionary --tie-output --relative)
for seed in 1 2 3; do cogs_long plain-cogs-shared-s$seed --model transformer "${shared[@]}" --seed $seed; done
for seed in 1 2 3; do cogs_long lrf-cogs-shared-s$seed "${shared[@]}" --seed $seed; done
# With one table of vectors for the words of both sides, as chosen on other held-out words.
one_table=("${shared[@]}" --share-embedding)
for seed in 1 2 3; do
  cogs_long plain-cogs-one-table-s$seed --model transformer "${one_table[@]}" --seed $seed
  cogs_long lrf-cogs-one-table-s$seed "${one_table[@]}" --seed $seed
done
for seed in 1 2; do cogs_long plain-cogs-long-s$seed --model transformer --seed $seed; done
# The size, the batches, the rate and the length of the published program of R. Csordás and others.  For a GPU.
# docs/results/lrf.md names what differs.
cogs_published() {
  run "$1" cognition --preset cogs-published --data "$data/cogs" "${@:2}"
}
for seed in 1 2 3; do
  cogs_published plain-cogs-published-s$seed --model transformer --seed $seed
  cogs_published lrf-cogs-published-s$seed --seed $seed
done
# The generated translation task.  Width and length were chosen with the plain model, on data of another seed:
# small and short enough that compounds are translated wrongly.  plain-deep has about as many parameters as lrf.
made=$folder/translation
if [[ ${chosen[*]-translation} == *translation* ]]; then make_data "$made" translation_of; fi
translation() {  # NAME SEED OPTIONS
  run "translation-$1-s$2" cognition --preset small --precision bf16 --task cognition --data "$made" --width 32 \
    --hidden 64 --norm before --learning-rate 2e-3 --schedule linear --tokens 4096 --updates 6000 \
    --evaluate-every 1000 --seed "$2" "${@:3}"
}
for seed in 1 2 3; do
  translation plain $seed --model transformer
  translation lrf $seed
  translation dlcl $seed --model dlcl
  translation lrf-source $seed --fuse source
  translation lrf-target $seed --fuse target
  translation plain-deep $seed --model transformer --encoder-layers 4 --decoder-layers 4
done
# The other variants of the paper's Tables 1 and 4.
for seed in 1 2 3; do
  translation plain-relative $seed --model transformer --relative
  translation lrf-relative $seed --relative
done
translation plain-shallow 1 --model transformer --encoder-layers 2 --decoder-layers 2
translation lrf-shallow 1 --encoder-layers 2 --decoder-layers 2
translation lrf-only-top 1 --only-top
translation accumulate 1 --accumulate
# SCAN's commands without a held-out construction, for as long.
scan_long() { trained_long "$1" --task scan --split "$2" --data "$data/scan" "${@:3}"; }
scan_simple() { scan_long "$1" simple "${@:2}"; }
sines=(--joined-dictionary --tie-output)  # without --relative, as chosen on a tenth of the training commands
for seed in 1 2 3; do
  scan_simple plain-scan-simple-s$seed "${shared[@]}" --model transformer --seed $seed
  scan_simple lrf-scan-simple-s$seed "${shared[@]}" --seed $seed
  scan_simple plain-scan-simple-sines-s$seed "${sines[@]}" --model transformer --seed $seed
  scan_simple lrf-scan-simple-sines-s$seed "${sines[@]}" --seed $seed
done
# SCAN's commands of more than 26 actions, after training on the others (R. Csordás and others, 2021).  Positions are
# relative, as chosen on commands of 23 to 26 actions.
scan_longer() { scan_long "$1" simple --length-cutoff 26 "${shared[@]}" "${@:2}"; }
for seed in 1 2 3; do
  scan_longer plain-scan-longer-s$seed --model transformer --seed $seed
  scan_longer lrf-scan-longer-s$seed --seed $seed
  scan_longer universal-scan-longer-s$seed --model universal-transformer --seed $seed
done
# SCAN's splits that hold out a word or combinations, with the settings that were chosen for simple.
for split in mcd1 addprim_jump mcd2; do
  name=${split/addprim_/add-}
  for seed in 1 2 3; do
    scan_long plain-scan-$name-sines-s$seed $split "${sines[@]}" --model transformer --seed $seed
    scan_long lrf-scan-$name-sines-s$seed $split "${sines[@]}" --seed $seed
  done
done
# CoGnition on its validation and test pairs, which is not the paper's task.  The length was chosen on pairs that
# were held out, with the dropout of --preset paper, which is our guess.
cognition_pairs() {  # NAME OPTIONS
  run "$1" cognition --preset small --precision bf16 --task cognition --train-on valid+test \
    --data "$data/cognition" --norm before --learning-rate 2e-3 --schedule linear --tokens 4096 --epochs 60 \
    --dropout 0.3 --validate loss --evaluate-every 1000 --beam 5 "${@:2}"
}
for seed in 1 2 3; do
  cognition_pairs plain-cognition-valid-test-s$seed --model transformer --seed $seed
  cognition_pairs lrf-cognition-valid-test-s$seed --seed $seed
done
# Last, if time allows; the ledger says which of these were run.
if [[ ${chosen[*]-cfq} == *cfq* ]]; then build cfq; fi
for seed in 1 2 3; do
  both cfq-mcd1 $seed cfq --task semantic --data "$data/cfq/mcd1" --max-train-length 50 --updates 20000
done
# CFQ with a published encoder, all-mpnet-base-v2, an MPNet that was tuned for the similarity of sentences.
# frozen: only the decoder is trained.  tuned: the encoder too.
# Fuse-attention: tuned-lrf has it in all layers; tuned-lrf-target and frozen-lrf in those of the decoder.
if [[ ${chosen[*]-encoder} == *encoder* ]]; then build cfq; fi
of_encoder() {  # NAME SEED OPTIONS
  if wanted "encoder-$1-s$2" && [[ $encoder != ENCODER && ! -d $encoder ]]; then
    echo "reproduce: encoder-$1-s$2 is left out, because there is no folder $encoder: set TRIAD_ENCODER" >&2
    if $named; then exit 1; fi
    return
  fi
  run "encoder-$1-s$2" cfq --preset roberta --encoder "$encoder" --precision bf16 --data "$data/cfq/mcd1" \
    --seed "$2" "${@:3}"
}
frozen=(--freeze-encoder --epochs 3 --learning-rate 6e-4 --warmup 500)
tuned=(--epochs 1 --warmup 200)
for seed in 1 2 3; do
  of_encoder frozen-plain $seed --model transformer "${frozen[@]}"
  of_encoder frozen-lrf $seed --fuse target "${frozen[@]}"
  of_encoder tuned-plain $seed --model transformer "${tuned[@]}"
  of_encoder tuned-lrf-target $seed --fuse target "${tuned[@]}"
  of_encoder tuned-lrf $seed "${tuned[@]}"
done
