#!/usr/bin/env bash
# --help of every program and verb fits a screen and names the program's page; --help-all has every option:
#   help.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 build=$3
failed() { echo "help: $1" >&2 && exit 1; }
options() { grep -oE '^  --[a-z0-9-]+' | sort; }
most=50 verbs=0
source "$root/scripts/programs.sh"
programs=$(names_of_programs)
for program in $programs; do
  call=$build/bin/$program
  text=$("$call" --help)
  page=$(tr '\n' ' ' <<< "$text" | grep -oE 'examples/programs/[a-z/]+/README\.md') || failed "$program names no page: $text"
  [[ -f $root/$page ]] || failed "no $page"
  [[ $text == *docs/programs.md* ]] || failed "$program --help does not name docs/programs.md: $text"
  ((${#text} < 4000 && $(wc -l <<< "$text") <= most)) || failed "$program --help is $(wc -l <<< "$text") lines"
  for verb in $(sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<< "$text"); do
    verbs=$((verbs + 1))
    short=$("$call" "$verb" --help) all=$("$call" "$verb" --help-all)
    (($(wc -l <<< "$short") <= most)) || failed "$program $verb --help is $(wc -l <<< "$short") lines: $short"
    [[ $short == *"$page"* ]] || failed "$program $verb names no page"
    # What is left out is said, by number, and is in the other.
    left_out=$(comm -13 <(options <<< "$short") <(options <<< "$all") | wc -l)
    [[ -z $(comm -23 <(options <<< "$short") <(options <<< "$all")) ]] || failed "$program $verb: --help has more than --help-all"
    said=$(sed -n 's/^\([0-9]*\) options that are seldom given.*/\1/p' <<< "$short")
    ((left_out == ${said:-0})) || failed "$program $verb: $left_out options are left out, $said are said"
  done
  # An option of which help says nothing is an option all the same, and messages have its name.
  status=0
  text=$("$call" train --warmup -1 2>&1) || status=$?
  [[ $status == 2 && $text == *--warmup:* ]] || failed "$program train --warmup -1: status $status: $text"
done
((verbs >= 22)) || failed "only $verbs verbs found"
for program in clutrr parse pairs cfq; do
  grep -qx "$program" <<< "$programs" || failed "$program is not found among the programs: $programs"
done
