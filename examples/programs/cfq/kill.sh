# shellcheck shell=bash disable=SC2154
# The runs of cfq that scripts/kill-test starts and kills.
# Order: 6

make_questions() {
  "$bin/cfq" generate --out "$work/made" --count 400 --seed 3 > "$work/made.log"
  "$bin/cfq" split --data "$work/made/rules.jsonl" --out "$work/data" --train 120 --dev-and-test 20 --atom-limit 0.2 \
    >> "$work/made.log"
}
data_by make_questions
run_to_kill cfq cfq train --preset smoke --model edge-transformer --dropout 0.2 --updates 25 --evaluate-every 9 \
  --dev-size 2 --max-length 9 --data "$work/data"
run_to_kill parse cfq train --task parse --preset smoke --dropout 0.2 --updates 600 --evaluate-every 130 \
  --data "$work/data"
