#!/usr/bin/env bash
# Tests that --help of every program and verb fits on a screen and names the program's page. In --help-all, every option
# must have a description, and its default unless the option is a flag or is required:
#   help.sh ROOT FOLDER BUILD
set -euo pipefail
root=$1 build=$3
failed() { echo "help: $1" >&2 && exit 1; }
options() { grep -oE '^  --[a-z0-9-]+' | sort; }
# Prints each option of --help-all in one line: its name, its argument, and its description.
entries() {
  awk '/^Options:/ { on = 1; next }
    /^[^ ]/ { on = 0 }
    on && /^  -/ { if (entry != "") print entry; entry = $0; next }
    on && /[^ ]/ { sub(/^ +/, " "); entry = entry $0 }
    END { print entry }'
}
most=50 verbs=0 with_default=0
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
    while read -r name type text; do
      case $name in -h,* | '') continue ;; esac
      if [[ ! $type =~ ^(TEXT|INT|UINT|FLOAT|ENUM)(:|$) ]]; then  # the option is a flag
        [[ -n $type$text ]] || failed "$program $verb: --help-all says nothing of $name"
        continue
      fi
      [[ $text =~ ^(\.\.\. )?REQUIRED ]] && text="${text#*REQUIRED} [required]"
      [[ $text =~ ^(.*[^ ].*)\ \[[^][]+\]$ ]] || failed "$program $verb: no text, or no default: $name $type $text"
      with_default=$((with_default + 1))
    done < <(entries <<< "$all")
    # --help prints how many options it omits. --help-all must have these options.
    left_out=$(comm -13 <(options <<< "$short") <(options <<< "$all") | wc -l)
    [[ -z $(comm -23 <(options <<< "$short") <(options <<< "$all")) ]] || failed "$program $verb: --help has more than --help-all"
    said=$(sed -n 's/^\([0-9]*\) options that are seldom given.*/\1/p' <<< "$short")
    ((left_out == ${said:-0})) || failed "$program $verb: $left_out options are left out, $said are said"
  done
  # An option that --help does not describe works, too, and error messages have its name.
  status=0
  text=$("$call" train --warmup -1 2>&1) || status=$?
  [[ $status == 2 && $text == *--warmup:* ]] || failed "$program train --warmup -1: status $status: $text"
done
((with_default > 300)) || failed "only $with_default options with a default were found"
# The values of a preset are printed next to the defaults. If the preset is given, they are the defaults.
text=$("$build/bin/parse" train --help-all | entries)
[[ $text == *"Hidden size [128; "*"smoke: 16]"* ]] || failed "parse train --help-all does not say what presets have: $text"
text=$("$build/bin/parse" train --preset smoke --help | entries)
[[ $text == *"Hidden size [16]"* ]] || failed "parse train --preset smoke --help does not have its defaults: $text"
text=$("$build/bin/parse" evaluate --help-all | entries)
[[ $text == *"--data TEXT"*"[the run's]"* ]] || failed "parse evaluate does not say that data are the run's: $text"
((verbs >= 22)) || failed "only $verbs verbs found"
for program in clutrr parse pairs cfq; do
  grep -qx "$program" <<< "$programs" || failed "$program is not found among the programs: $programs"
done
