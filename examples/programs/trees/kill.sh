# shellcheck shell=bash disable=SC2154
# The runs of trees that scripts/kill-test starts and kills.
# Order: 4

make_trees() {
  mkdir "$work/rows"
  local a b
  for a in one two three four five; do
    for b in '( left x )' '( right x y )' '( left ( right y x ) )'; do
      printf '{"source": "( R %s %s )", "target": "( R %s %s )"}\n' "$a" "$b" "$b" "$a"
    done
  done | tee "$work/rows/train.jsonl" > "$work/rows/test.jsonl"
}
data_by make_trees
run_to_kill trees trees train --preset smoke --dropout 0.2 --updates 40 --attempts 2 --evaluate-every 9 \
  --first-rows 0.5 --last-updates 25 --data "$work/rows"
