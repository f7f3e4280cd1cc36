#!/usr/bin/env bash
# Tests scripts/reproduce with programs that only print their arguments:  reproduce.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin"
cat > "$folder/bin/clutrr" <<'STUB'
#!/usr/bin/env bash
# Does not train: writes a checkpoint to the folder after --out, and prints its arguments.
arguments="$*"
while (($#)); do
  if [[ $1 == --out ]]; then mkdir -p "$2" && echo "$arguments" > "$2/model.safetensors"; fi
  shift
done
echo "stub $arguments"
exit "${STUB_STATUS:-0}"
STUB
chmod +x "$folder/bin/clutrr"
export TRIAD_PROGRAMS=$folder/bin TRIAD_RUNS=$folder/runs TRIAD_DATA=$folder/data
failed() { echo "$1: $2" >&2 && exit 1; }
says() {  # STATUS TEXT ARGUMENTS...: the script must exit with STATUS and print TEXT
  local expected=$1 text=$2 status=0
  shift 2
  output=$("$root/scripts/reproduce" "$@" 2>&1) || status=$?
  ((status == expected)) || failed "reproduce $*" "status $status, expected $expected: $output"
  grep -qF -e "$text" <<< "$output" || failed "reproduce $*" "no \"$text\" in: $output"
}
has() { [[ -e $folder/runs/$1 ]] || failed "$1" "is missing"; }

name=clutrr-k234-s1
grep -q "^$name,done," "$root/docs/runs/ledger.csv" || failed "$name" "is not done by the ledger, as this test wants it"
# If the ledger lists a run as done, it is skipped, unless it is named.
says 0 "$name: done, by docs/runs/ledger.csv; to run it here: scripts/reproduce clutrr $name" clutrr
[[ ! -e $folder/runs/$name ]] || failed "$name" "ran, and is done by the ledger"
has clutrr-k23-s10/model.safetensors
says 0 "finished, its figures are at the end" clutrr clutrr-k23-s10
says 0 "stub train --preset paper-k234 --data $folder/data/clutrr/data_db9b8f04 --seed 1 --out $folder/runs/$name" \
  clutrr $name
has $name.finished
# A finished run is skipped, and a message says how to run it again.
echo first > "$folder/runs/$name/model.safetensors"
says 0 "to repeat it: scripts/reproduce clutrr $name --again" clutrr $name
[[ $(cat "$folder/runs/$name/model.safetensors") == first ]] || failed "$name" "was touched"
# Runs are left if they are neither finished nor done according to the ledger.
rm "$folder/runs/clutrr-k23-s9.finished"
output=$("$root/scripts/reproduce" clutrr --list)
[[ $output == clutrr-k23-s9 ]] || failed "--list" "says $output"
# Only the state in the run's row of the ledger counts. A row alone does not mean that the run is done.
printf 'name,state,seed\nclutrr-k23-s9,stopped,9\n' > "$folder/ledger.csv"
output=$(TRIAD_LEDGER=$folder/ledger.csv "$root/scripts/reproduce" clutrr --array --list)
for state in 's1\tleft' 's9\tleft' 's10\tfinished'; do
  grep -qP "\tclutrr-k23-$state$" <<< "$output" || failed "--list" "no $state by a ledger of its own: $output"
done
sed -i 's/s9,stopped/s9,done/' "$folder/ledger.csv"
output=$(cd "$folder" && TRIAD_LEDGER=ledger.csv "$root/scripts/reproduce" clutrr --array --list)
grep -qP '\tclutrr-k23-s9\tdone$' <<< "$output" || failed "--list" "not done: $output"
# --again: earlier files are renamed, and no run is resumed.
for number in '' 2; do
  cp "$folder/runs/$name.log" "$folder/log"
  says 0 "the last run is now in $folder/runs/$name.old$number" clutrr $name --again
  if grep -qF -e --resume <<< "$output"; then failed "$name" "--again resumed: $output"; fi
  has "$name.old$number/model.safetensors" && has "$name.finished.old$number" && has "$name.finished"
  cmp "$folder/log" "$folder/runs/$name.log.old$number"
done
[[ $(cat "$folder/runs/$name.old/model.safetensors") == first ]] || failed "$name.old" "is not the first run"
# An interrupted run is resumed, even if it was started with --again.
rm "$folder/runs/$name.finished"
says 0 "--resume" clutrr $name --again
# A run that did not learn is finished. A run that failed is not.
STUB_STATUS=3 says 0 "stub" clutrr $name --again
has $name.finished
STUB_STATUS=1 says 1 "stub" clutrr $name --again
[[ ! -e $folder/runs/$name.finished ]] || failed "$name" "broke and counts as finished"
# Trees as sequences: tree-transforms writes the rows once, and pairs trains on them.
cat > "$folder/bin/tree-transforms" <<'STUB'
#!/usr/bin/env bash
echo "$*" >> "$(dirname "$0")/made"
mkdir "${@: -1}"
STUB
cp "$folder/bin/clutrr" "$folder/bin/pairs"
chmod +x "$folder/bin/tree-transforms"
name=trees-as-sequences-passive-s1 rows=$folder/runs/trees-as-sequences-passive
says 0 "stub train --model transformer" trees $name
says 0 "--data $rows --seed 1 --out $folder/runs/$name" trees $name --again
says 0 "--data $folder/runs/trees-as-sequences-active --seed 1" trees trees-as-sequences-active-s1
diff "$folder/bin/made" - <<END || failed "$name" "made its rows otherwise, or again"
generate --as sequences --task passive-logical --out $rows.part
generate --as sequences --data $folder/data/bst/active_logical_ttb --out $folder/runs/trees-as-sequences-active.part
END
# Wrong arguments are reported.
name=clutrr-k234-s1
says 2 "there is no run nothing of clutrr" clutrr nothing
says 2 "--again repeats runs that are named" clutrr --again
rm "$folder/bin/clutrr"
says 2 "no program clutrr in TRIAD_PROGRAMS=" clutrr $name
