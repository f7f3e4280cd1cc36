# shellcheck shell=bash disable=SC2154
# The runs of meanings that scripts/kill-test starts and kills.
# Order: 7

make_commands() {
  "$bin/meanings" generate --out "$work/commands" --count 100 > "$work/commands.log"
  rm "$work/commands/test.jsonl"
}
data_by make_commands
run_to_kill meanings meanings train --preset smoke --dropout 0.2 --updates 600 --evaluate-every 130 \
  --data "$work/commands"
