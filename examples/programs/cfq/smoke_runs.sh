# shellcheck shell=bash disable=SC2154
# The runs of cfq that scripts/smoke-runs trains.
# Order: 5

data=${TRIAD_SMOKE_DATA:-$out/data}
if [[ -z ${TRIAD_SMOKE_DATA:-} ]]; then
  call cfq-generate "$bin/cfq" generate --out "$data/all" --count 400 --seed 3
  call cfq-split "$bin/cfq" split --data "$data/all/rules.jsonl" --out "$data/mcd" --train 120 --dev-and-test 20 \
    --atom-limit 0.2
fi
smoke cfq-semantic cfq --task semantic --dropout 0.1 --updates 10 --data "$data/mcd"
smoke cfq-semantic-edge cfq --task semantic --model edge-transformer --updates 10 --data "$data/mcd"
for model in edge-transformer transformer universal-transformer; do
  smoke "cfq-parse-$model" cfq --task parse --model $model --dropout 0.1 --updates 20 --data "$data/mcd"
done
