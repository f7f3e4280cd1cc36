#!/usr/bin/env bash
# Tests scripts/reproduce --collect on folders of two machines, complete and damaged, which a stub has made:
#   collect.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/tools"
source "$root/tests/scripts/array_stub.sh"
make_stub "$folder/bin"
echo 1a2b3c4 > "$folder/bin/clutrr.commit"
# Two machines, with their names and their folders.
# shellcheck disable=SC2016  # for the stub
printf '#!/bin/sh\n[ "$1" = -n ] && echo "$HOST_NAME" || echo x86_64\n' > "$folder/tools/uname"
printf '#!/bin/sh\necho 4\n' > "$folder/tools/nproc"
chmod +x "$folder"/tools/*
export TRIAD_PROGRAMS=$folder/bin TRIAD_DATA=$folder/data CALLS=$folder/calls
unset SLURM_ARRAY_TASK_ID PARALLEL_SEQ TRIAD_BACKEND
failed() { echo "collect: $1" >&2 && exit 1; }
on() {  # MACHINE SEED
  HOST_NAME=$1 TRIAD_RUNS="$folder/of $1" PATH=$folder/tools:$PATH \
    "$root/scripts/reproduce" clutrr 'clutrr-k234-s*' --array "$2" > "$folder/log" 2>&1
}
collects() {  # STATUS TEXT ARGUMENTS...: its tables, or its message, are left in `output`
  local expected=$1 text=$2 status=0
  shift 2
  output=$(cd "$folder" && "$root/scripts/reproduce" clutrr 'clutrr-k234-s*' --collect "$@" 2>&1) || status=$?
  ((status == expected)) || failed "$*: status $status, expected $expected: $output"
  grep -qF -e "$text" <<< "$output" || failed "$*: no \"$text\" in: $output"
}
one="of one" two="of two"
for seed in 1 2 3; do on one $seed; done
for seed in 3 4; do on two $seed; done
STUB_STATUS=3 on two 5
STUB_DIVERGES=1 on two 6
for epoch in 1 2; do if STUB_KILL=$epoch on one 7; then failed "was not killed"; fi; done
if STUB_KILL=1 on one 4; then failed "was not killed"; fi  # the run begins on one machine and ends on the other
cp -r "$folder/$one" "$folder/whole one"
cp -r "$folder/$two" "$folder/whole two"

# ---- the table ------------------------------------------------------------------------------------------------------
# If a run is in both folders, it counts once, with its finished part. A failed run counts in the mean, and a diverged
# run does not.
processor=$(sed -n '/^model name/{s/[^:]*: *//p;q}' /proc/cpuinfo | tr -s '\t ' ' ')
cat > "$folder/expected" <<TABLE
Of 10 runs 6 are finished here, 2 of them failed; 1 were begun, 0 are not run yet, and the ledger has 3 more.

## clutrr-k234

The command is \`clutrr train --preset paper-k234 --data DIR/clutrr/data_db9b8f04 --seed S\`.

| run | k=6 | k=10 | failed | time | machine | commit |
| --- | --- | --- | --- | --- | --- | --- |
| seed 1 (\`clutrr-k234-s1\`) | 81.6 | 81.0 | no | 1 min 01 s | one | 1a2b3c4 |
| seed 2 (\`clutrr-k234-s2\`) | 72.6 | 72.0 | no | 1 min 01 s | one | 1a2b3c4 |
| seed 3 (\`clutrr-k234-s3\`) | 63.6 | 63.0 | no | 1 min 01 s | one | 1a2b3c4 |
| seed 4 (\`clutrr-k234-s4\`) | 54.6 | 54.0 | no | 1 min 01 s | two | 1a2b3c4 |
| seed 5 (\`clutrr-k234-s5\`) | 95.6 | 95.0 | **yes** | 1 min 01 s | two | 1a2b3c4 |
| seed 6 (\`clutrr-k234-s6\`) | - | - | **diverged** | 20.5 s | two | 1a2b3c4 |
| mean ± standard error, 5 of 6 seeds, 6 diverged | 73.6 ± 7.1 | 73.0 ± 7.1 | 2 of 6 | | | |
| clutrr-k234-s7, not finished: 2 epochs, ended with status 137 | | | | 40.5 s | one (2 sittings) | 1a2b3c4 |
| clutrr-k234-s8 to 10: in the ledger, not in these folders | | | | | | |

The machines:

- one: ${processor:-x86_64}, threads: 4
- two: ${processor:-x86_64}, threads: 4
TABLE
collects 0 "" "$one" "$two"
diff "$folder/expected" - <<< "$output" || failed "another table"
# The tables do not depend on the order of the folders, on a folder that is named twice, on full paths, or on a copy
# without weights.
collects 0 "" "$folder/$two" "$folder/./$two" "$one"
diff <(sed '/^| seed 3/s/one/two/' "$folder/expected") - <<< "$output" || failed "another table in another order"
rm "$folder/$one"/*/model.safetensors
collects 0 "" "$one" "$two" --out "the table.md"
diff "$folder/expected" "$folder/the table.md" || failed "another table in a file"
# Without folders, the folder of TRIAD_RUNS is used. Runs that belong to no group are named and left out.
mkdir "$folder/$one/own" && echo 'seed = 1' > "$folder/$one/own/config.toml"
TRIAD_RUNS="$folder/$one" collects 0 "Of 10 runs 3 are finished here, 0 of them failed; 2 were begun"
grep -qF "$folder/$one/own is of no run of scripts/reproduce, and left out" <<< "$output" || failed "$output"
grep -qF "clutrr-k234-s5, 6, 8 to 10: in the ledger" <<< "$output" || failed "what is missing: $output"
# For all groups, the end of the output names the settings that have no run.
output=$(cd "$folder" && "$root/scripts/reproduce" --collect "$one" "$two" 2> /dev/null)
for absent in 'clutrr-k23-s4 to 10' 'cogs-s1 to 3'; do
  grep -qx -e "- $absent" <<< "$output" || failed "all, without $absent: $output"
done
# Older folders have no .sittings files. Values that were not recorded are unknown, and a rule decides which run has
# failed.
rm "$folder/$two"/*.sittings
sed -i 's/^3,30\(.*\),0\.9500,/3,30\1,0.4900,/' "$folder/$two/clutrr-k234-s5/metrics.csv"
collects 0 "| seed 4 (\`clutrr-k234-s4\`) | 54.6 | 54.0 | no | 1 min 01 s | not known | not known |" "$one" "$two"
grep -qF "| seed 5 (\`clutrr-k234-s5\`) | 95.6 | 95.0 | **yes** |" <<< "$output" || failed "$output"
grep -qF "**diverged**" <<< "$output" || failed "$output"

# ---- rows of the ledger ---------------------------------------------------------------------------------------------
mkdir "$folder/docs"
columns=name,state,seed,command,commit,machine,date,epochs,time,failed,figures,note
echo "$columns" > "$folder/docs/ledger.csv"
before='clutrr-k234-s2,done,2,,,,,,,no,k=6: 10.0,'
printf '%s\n' 'clutrr-k234-s1,stopped,1,,,,,2,,,,' "$before" >> "$folder/docs/ledger.csv"
export TRIAD_LEDGER=docs/ledger.csv  # relative to the folder of the call
collects 0 "docs/ledger.csv: done" "whole one" "whole two" --record
grep -qF "clutrr-k234-s2 is done by $folder/docs/ledger.csv:3: remove that row to replace it" <<< "$output" ||
  failed "a row that is done: $output"
command='clutrr train --preset paper-k234 --data DIR/clutrr/data_db9b8f04 --seed'
today=$(sed -n 's/^ended\t\([-0-9]*\)T.*/\1/p' "$folder/whole one/clutrr-k234-s1.sittings")
row() {  # SEED STATE EPOCHS TIME FAILED FIGURES NOTE
  echo "clutrr-k234-s$1,$2,$1,$command $1,1a2b3c4,${processor:-x86_64},$today,$3,$4,$5,$6,$7"
}
{
  echo "$columns"
  row 1 done 3 "1 min 01 s" no "k=2: 81.2; k=6: 81.6; k=10: 81.0; validation: 91.0" ""
  echo "$before"
  row 3 done 3 "1 min 01 s" no "k=2: 63.2; k=6: 63.6; k=10: 63.0; validation: 93.0" ""
  row 4 done 3 "1 min 01 s" no "k=2: 54.2; k=6: 54.6; k=10: 54.0; validation: 94.0" ""
  row 5 done 3 "1 min 01 s" yes "k=2: 95.2; k=6: 95.6; k=10: 95.0; validation: 95.0" ""
  row 6 done 1 "20.5 s" diverged "" ""
  row 7 stopped 2 "40.5 s" "" "" "two sittings"
} > "$folder/rows"
diff "$folder/rows" "$folder/docs/ledger.csv" || failed "other rows"
cmp "$folder/docs/clutrr-k234-s5.csv" "$folder/whole two/clutrr-k234-s5/metrics.csv"
[[ ! -e $folder/docs/clutrr-k234-s2.csv && ! -e $folder/docs/clutrr-k234-s7.csv ]] || failed "a course of another run"
# The tables then show the ledger's values. Recording again changes only rows of runs that were resumed.
collects 0 "clutrr-k234-s8 to 10: not run yet" "whole one" "whole two" --record
diff "$folder/rows" "$folder/docs/ledger.csv" || failed "other rows when recorded again"
sed -i 's/,no,/,perhaps,/' "$folder/docs/ledger.csv"
collects 1 "docs/ledger.csv:2: failed is 'perhaps', expected no, yes or diverged, or nothing" "whole one" --record
unset TRIAD_LEDGER
if output=$("$root/scripts/reproduce" clutrr --record 2>&1); then failed "--record without --collect: $output"; fi
grep -qF -e "--record is of --collect" <<< "$output" || failed "$output"

# ---- folders that give no table --------------------------------------------------------------------------------------
damage() {  # NAME TEXT COMMAND...: damages a fresh copy of both folders; TEXT must be printed, and no table
  local name=$1 text=$2
  shift 2
  rm -rf "${folder:?}/$one" "${folder:?}/$two" "$folder/table.md"
  cp -r "$folder/whole one" "$folder/$one"
  cp -r "$folder/whole two" "$folder/$two"
  (cd "$folder" && "$@")
  collects 1 "$text" "$one" "$two" --out table.md
  [[ ! -e $folder/table.md && ! -e $folder/table.md.part ]] || failed "$name: a table all the same"
  grep -qF "$name" <<< "$output" || failed "$name is not named: $output"
}
run=clutrr-k234-s3
# The same run has different results in the two folders. The message names both results.
damage "$folder/$one/$run" "loss of epoch 2 is 0.67 and 0.68" sed -i 's/^2,20,0.67/2,20,0.68/' "$two/$run/metrics.csv"
grep -qF "$folder/$two/$run" <<< "$output" || failed "the second folder is not named: $output"
damage "$folder/$two/$run" "k=10 is 63 and 62" sed -i 's/^k=10 .*/k=10  0.620/' "$two/$run.log"
damage clutrr-k234-s4 "loss of epoch 1 is" sed -i 's/^1,10,0.76/1,10,0.75/' "$one/clutrr-k234-s4/metrics.csv"
# Files whose end is missing.
cut_end() { truncate -s -9 "$1"; }
damage "$folder/$one/$run/metrics.csv:4" "the last line has no end" cut_end "$one/$run/metrics.csv"
damage "$folder/$one/$run/metrics.csv" "ends at update 20, and the checkpoint beside it has 30" \
  sed -i '$d' "$one/$run/metrics.csv"
damage "$folder/$one/$run/metrics.csv:3" "7 cells, expected 8" sed -i '3s/,100$//' "$one/$run/metrics.csv"
damage "$folder/$one/$run/metrics.csv:2" "a number is expected, found 'x'" sed -i '2s/,100$/,x/' "$one/$run/metrics.csv"
damage "$folder/$one/$run/metrics.csv" "no epoch" rm "$one/$run/metrics.csv"
damage "$folder/$one/$run.log" "is missing" rm "$one/$run.log"
damage "$folder/$one/$run" "marked as finished, and has no figures" sed -i 's/^k=/length /' "$one/$run.log"
damage "$folder/$two/clutrr-k234-s5" "marked as finished, and has no figures" \
  sed -i 's/^k=/length /' "$two/clutrr-k234-s5.log"
damage "$folder/$one/$run.log" "the file is empty" truncate -s 0 "$one/$run.log"
damage "$folder/$one/$run/config.toml" "is missing" rm -r "$one/$run"
damage "$folder/$one/$run/model.safetensors" "is no checkpoint" truncate -s 20 "$one/$run/model.safetensors"
damage "$folder/$one/$run.sittings:1" "expected began" sed -i '1s/\t/ /' "$one/$run.sittings"
# A different run is in the run's folder.
damage "$folder/$one/$run/config.toml" "seed is 4, and the run is called $run" \
  sed -i 's/^seed = 3/seed = 4/' "$one/$run/config.toml"
damage "$folder/$one/$run/config.toml" "preset is smoke" sed -i 's/paper-k234/smoke/' "$one/$run/config.toml"
damage "clutrr-k234-s1 and $run are not runs of one setting" "epochs is 4, and 3 in" \
  sed -i 's/^epochs = 3/epochs = 4/' "$one/$run/config.toml"
# Folders that cannot be read, and a file that cannot be written, are reported.
collects 2 "no folder $folder/nowhere" "$one" nowhere
collects 1 "nowhere/table.md: cannot be written" "$folder/whole one" --out nowhere/table.md
collects 2 "call it without --array" "$one" --array 1
# The last line of a run in progress may be incomplete. This is not damage: the line is left out, as --resume does.
cut_end "$folder/whole one/clutrr-k234-s7/metrics.csv"
collects 0 "| clutrr-k234-s7, not finished: 1 epoch, ended with status 137 |" "whole one" "whole two"

# ---- a run in two trainings -----------------------------------------------------------------------------------------
# The run's seconds are the sum of both trainings. If the first training was enough, the second training makes no
# update.
tree=trees-robust-active-s1
mkdir -p "$folder/trees/$tree/first"
: > "$folder/trees/$tree.finished"
printf 'preset = "small"\nseed = 1\n' > "$folder/trees/$tree/config.toml"
cat > "$folder/trees/$tree/splits.txt" << 'SPLITS'
                whole trees  partial  rows
------------------------------------------
train                 100.0    100.0  1000
validation             99.9    100.0  1250
test                   99.8    100.0  1250
OOD lexical            99.7    100.0  1250
OOD structural         99.6    100.0  1250
SPLITS
epochs=epoch,step,loss,rate,norm,validation,seconds,examples_per_second
printf '%s\n' $epochs 1,830,0.1,0.001,1,0.5000,20.00,300 2,1660,0.1,0.001,1,1.0000,40.50,300 \
  > "$folder/trees/$tree/first/metrics.csv"
echo $epochs > "$folder/trees/$tree/metrics.csv"
trees() { "$root/scripts/reproduce" trees "$tree" --collect "$folder/trees" 2>&1; }
output=$(trees) || failed "a run whose last training made no update: $output"
grep -qF "| 100.0 | 99.8 | 99.7 | 99.6 | no | 40.5 s |" <<< "$output" || failed "of two trainings: $output"
echo 1,400,0.1,0.0001,1,1.0000,20.00,300 >> "$folder/trees/$tree/metrics.csv"
output=$(trees) || failed "a run in two trainings: $output"
grep -qF "| no | 1 min 01 s |" <<< "$output" || failed "the seconds of two trainings: $output"
# All options of the command are compared with those that the program wrote: texts, numbers and flags.
config=$folder/trees/$tree/config.toml
cp "$config" "$config.whole"
echo 'recipe = "robust"' >> "$config"
output=$(trees) || failed "the recipe of the command: $output"
echo 'recipe = "paper"' >> "$config"
if output=$(trees); then failed "another recipe, and a table: $output"; fi
grep -qF "config.toml: recipe is paper, and $tree is a run with recipe robust" <<< "$output" \
  || failed "another recipe: $output"
mv "$config.whole" "$config"
python3 - "$root" << 'PYTHON' || failed "the options of a command"
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/scripts/reproduce.d")
from run_files import equal, planned

of_cogs = planned("--preset cogs --seed 3 --data A/B --learning-rate 2e-3 --untied --no-tie-output --fuse=source --relative")
assert of_cogs == {"preset": "cogs", "learning-rate": "2e-3", "fuse": "source", "relative": "true", "tied": "false",
                   "tie-output": "false"}, of_cogs
plain = planned("--preset small --only-top")
assert (plain["only-top"], plain["relative"]) == ("true", "false"), plain
assert equal("0.002", "2e-3") and equal("small", "small") and not equal("2e-3", "3e-3") and not equal("true", "false")
try:
    planned("--lists 2000 3000")
except ValueError:
    pass
else:
    raise AssertionError("a word of no option")
PYTHON
rm -r "$folder/trees/$tree/first"
echo $epochs > "$folder/trees/$tree/metrics.csv"
if output=$(trees); then failed "no epoch in any file, and a table: $output"; fi
grep -qF "no epoch" <<< "$output" || failed "no epoch: $output"
