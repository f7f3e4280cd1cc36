#!/usr/bin/env bash
# Tests that a script with wrong arguments prints the whole comment at its beginning, and nothing else:
#   usage.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/scripts"
failed() { echo "usage: $1" >&2 && exit 1; }
prints() {  # FILE ARGUMENTS...: must print its comment and exit with status 2, from here and from its own folder
  local place status expected output
  expected=$(awk 'NR > 1 && !/^#/ { exit } NR > 1 && !/^# shellcheck / { sub(/^# ?/, ""); print }' "$1")
  for place in "$folder" "$(dirname "$1")"; do
    status=0
    output=$(cd "$place" && "./$(realpath --relative-to="$place" "$1")" "${@:2}" 2>&1) || status=$?
    ((status == 2)) || failed "${1##*/} ${*:2}, in $place: status $status: $output"
    [[ $output == "$expected" ]] || failed "${1##*/} ${*:2}, in $place: $(diff <(echo "$expected") - <<< "$output")"
  done
}
prints "$root/scripts/test" --nothing
prints "$root/scripts/format" --nothing
prints "$root/scripts/compared" --nothing
prints "$root/scripts/docs" --nothing
prints "$root/scripts/gpu" nothing
prints "$root/scripts/kill-test"
prints "$root/scripts/smoke-runs" one
prints "$root/scripts/compare-peers"
# The comment may have any number of lines, and an empty line among them.
cp "$root/scripts/usage.sh" "$folder/scripts/"
for lines in 1 2 40; do
  {
    echo '#!/usr/bin/env bash'
    for ((line = 1; line <= lines; ++line)); do
      if ((line == 7)); then echo '#'; else echo "#  line $line of $lines"; fi
    done
    echo '# shellcheck disable=SC1091'
    # shellcheck disable=SC2016
    echo 'source "$(dirname "$0")/usage.sh"'
    echo 'cd /'
    echo '# no line of it'
    echo 'print_usage && exit 2'
  } > "$folder/scripts/of-$lines"
  chmod +x "$folder/scripts/of-$lines"
  prints "$folder/scripts/of-$lines"
  [[ $("$folder/scripts/of-$lines" 2>&1 | wc -l) == "$lines" ]] || failed "a comment of $lines lines"
done
# No script may contain the number of lines of its comment.
if grep -nE "sed -n '2[,p]" "$root"/scripts/* 2> /dev/null; then failed "lines of its own, above"; fi
