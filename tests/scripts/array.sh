#!/usr/bin/env bash
# Tests scripts/reproduce --array: with numbers, with GNU parallel, and with the files of scripts/cluster and stubs of
# SLURM:
#   array.sh ROOT FOLDER
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/tools"
source "$root/tests/scripts/array_stub.sh"
make_stub "$folder/the programs"
export TRIAD_PROGRAMS="$folder/the programs" TRIAD_RUNS="$folder/the runs" TRIAD_DATA=$folder/data CALLS=$folder/calls
unset SLURM_ARRAY_TASK_ID PARALLEL_SEQ TRIAD_BACKEND
: > "$CALLS"
failed() { echo "array: $1" >&2 && exit 1; }
reproduce() { "$root/scripts/reproduce" "$@"; }
says() {  # STATUS TEXT ARGUMENTS...: the script must exit with STATUS and print TEXT
  local expected=$1 text=$2 status=0
  shift 2
  output=$(reproduce "$@" 2>&1) || status=$?
  ((status == expected)) || failed "reproduce $*: status $status, expected $expected: $output"
  grep -qF -e "$text" <<< "$output" || failed "reproduce $*: no \"$text\" in: $output"
}
calls() { grep -cE -e "$1" "$CALLS" || true; }
ran_once() {  # SEED...: each seed must have run exactly once, from start to end
  local seed
  for seed in "$@"; do
    [[ $(calls "^$seed begins") == 1 && $(calls "^$seed ends") == 1 ]] || failed "seed $seed: $(cat "$CALLS")"
  done
  if grep -q OVERLAP "$CALLS"; then failed "two at one run: $(cat "$CALLS")"; fi
}
runs=$TRIAD_RUNS seeds='clutrr-k234-s*'

# ---- numbers --------------------------------------------------------------------------------------------------------
# A number always means the same run. It does not depend on which runs have finished, or on the order in which runs are
# named.
reproduce clutrr "$seeds" --array --list > "$folder/numbers"
[[ $(wc -l < "$folder/numbers") == 10 ]] || failed "ten seeds: $(cat "$folder/numbers")"
grep -qP '^4\tclutrr-k234-s4\tleft$' "$folder/numbers" || failed "$(cat "$folder/numbers")"
says 0 "clutrr-k234-s4: " clutrr "$seeds" --array 4
ran_once 4
[[ $(calls begins) == 1 ]] || failed "--array 4 ran more than one: $(cat "$CALLS")"
diff <(sed 's/s4\tleft/s4\tfinished/' "$folder/numbers") <(reproduce clutrr --only "$seeds" --list --array) ||
  failed "the numbers moved"
says 0 "2	clutrr-k234-s2	left" clutrr clutrr-k234-s2 clutrr-k234-s1 clutrr-k234-s2 --array --list
says 0 "clutrr-k234-s4: finished, its figures are at the end" clutrr "$seeds" --array=04
# If the ledger lists a run of the group as done, its number does not start it.
says 0 "1	clutrr-k234-s1	done" clutrr --array --list
says 0 "clutrr-k234-s1: done, by docs/runs/ledger.csv" clutrr --array 1
count=$(reproduce clutrr --array --list | wc -l)
# The group "all" has numbers, too. The runs of the first group have the first numbers.
says 0 "$((count + 1))	cogs-s1	done" all --array --list
says 0 "cogs-s1: done, by docs/runs/ledger.csv; to run it here: scripts/reproduce cogs cogs-s1" \
  all --array $((count + 1))
[[ $(calls begins) == 1 ]] || failed "a run that is done by the ledger: $(cat "$CALLS")"
# The number may come from several places, and a message names the place.
says 2 "--array wants the number of a run, or SLURM_ARRAY_TASK_ID or PARALLEL_SEQ" clutrr --array
SLURM_ARRAY_TASK_ID=4 says 0 "clutrr-k234-s4: finished" clutrr "$seeds" --array
PARALLEL_SEQ=4 says 0 "clutrr-k234-s4: finished" clutrr "$seeds" --array
PARALLEL_SEQ=4 SLURM_ARRAY_TASK_ID=3 says 2 "say which with --array I" clutrr "$seeds" --array
PARALLEL_SEQ=3 SLURM_ARRAY_TASK_ID=3 says 0 "clutrr-k234-s4: finished" clutrr "$seeds" --array 4
# Numbers that are not those of a run are refused.
says 2 "--array is 11: there are 10 runs, 1 to 10" clutrr "$seeds" --array 11
says 2 "--array is 0: there are 10 runs" clutrr "$seeds" --array 0
says 2 "--array is -1: there are 10 runs" clutrr "$seeds" --array -1
says 2 "--array is 3x: there are 10 runs" clutrr "$seeds" --array 3x
says 2 "--array is 99999999999999999999: there are 10 runs" clutrr "$seeds" --array 99999999999999999999
SLURM_ARRAY_TASK_ID='1 2' says 2 "SLURM_ARRAY_TASK_ID is 1 2: there are 10 runs" clutrr "$seeds" --array
says 2 "there is no run clutrr-k24-* of clutrr" clutrr 'clutrr-k23-*' 'clutrr-k24-*' --array 1
says 2 "there is no run cogs-s1 of clutrr" clutrr cogs-s1 --array 1
says 2 "--only wants names" clutrr --only --array 1
[[ $(calls begins) == 1 ]] || failed "something ran that should not: $(cat "$CALLS")"

begun() {  # SEED: waits until its first epoch has ended
  for _ in {1..600}; do if grep -q "^$1 epoch 1" "$CALLS"; then return; fi && sleep 0.05; done
  failed "seed $1 does not begin: $(cat "$CALLS")"
}

# ---- one run, several calls -----------------------------------------------------------------------------------------
# The same number is called twice at the same time. One call trains. The other call prints that the run is in progress,
# and does nothing.
export STUB_HOLD=$folder/go-on
trap 'touch "$folder/go-on"' EXIT  # so that no program keeps waiting
reproduce clutrr "$seeds" --array 5 > "$folder/first" 2>&1 &
first=$!
begun 5
says 0 "clutrr-k234-s5: another call of this script is at it" clutrr "$seeds" --array 5
touch "$STUB_HOLD"
wait $first || failed "the first of two: $(cat "$folder/first")"
ran_once 5
# A run is killed and its number is called again: the run is resumed.
STUB_KILL=2 says 137 "" clutrr "$seeds" --array 6
[[ ! -e $runs/clutrr-k234-s6.finished ]] || failed "a killed run counts as finished"
says 0 "--resume" clutrr "$seeds" --array 6
[[ $(calls '^6 resumes after 2') == 1 && $(calls '^6 epoch 1') == 1 ]] || failed "$(cat "$CALLS")"
[[ $(cut -f 1,3 "$runs/clutrr-k234-s6.sittings") == began*$'\n'$'ended\t137\n'began*$'\n'$'ended\t0' ]] ||
  failed "$(cat "$runs/clutrr-k234-s6.sittings")"
# Only the script is killed, and its program continues. No other run may start in the program's folder.
rm "$STUB_HOLD"
"$root/scripts/reproduce" clutrr "$seeds" --array 7 > "$folder/killed" 2>&1 &
killed=$!
begun 7
kill -KILL $killed && { wait $killed 2> /dev/null || true; }
says 0 "another call of this script is at it" clutrr "$seeds" --array 7
touch "$STUB_HOLD"
flock "$runs/clutrr-k234-s7.lock" true  # waits until the program has ended
says 0 "--resume" clutrr "$seeds" --array 7
[[ $(calls '^7 resumes after 3') == 1 ]] || failed "$(cat "$CALLS")"
# SIGTERM is sent to the whole process group, as SLURM does. The program saves the run, its output is kept, and the next
# call resumes the run.
rm "$STUB_HOLD"
# shellcheck disable=SC2016
setsid --wait bash -c 'echo $$ > "$0" && exec "$@"' "$folder/group" \
  "$root/scripts/reproduce" clutrr "$seeds" --array 8 > "$folder/stopped" 2>&1 &
stopping=$!
begun 8
for _ in {1..600}; do if [[ -e $runs/clutrr-k234-s8.log ]]; then break; fi && sleep 0.05; done  # tee makes this file
kill -TERM -- "-$(cat "$folder/group")"
status=0
wait $stopping || status=$?
unset STUB_HOLD
((status == 143)) || failed "SIGTERM: status $status: $(cat "$folder/stopped")"
grep -q '^interrupted; the checkpoint' "$runs/clutrr-k234-s8.log" || failed "the log: $(cat "$runs/clutrr-k234-s8.log")"
tail -n 1 "$runs/clutrr-k234-s8.sittings" | grep -qP '^ended\t.*\t143$' ||
  failed "$(cat "$runs/clutrr-k234-s8.sittings")"
says 0 "--resume" clutrr "$seeds" --array 8
[[ -e $runs/clutrr-k234-s8.finished ]] || failed "did not go on after SIGTERM"
# On a file system without locks, the script prints that and runs nothing.
printf '#!/bin/sh\nexit 71\n' > "$folder/tools/flock" && chmod +x "$folder/tools/flock"
PATH=$folder/tools:$PATH says 1 "clutrr-k234-s9.lock cannot be locked (flock: status 71)" clutrr "$seeds" --array 9
[[ $(calls '^9 begins') == 0 ]] || failed "ran without a lock"
rm "$folder/tools/flock"
# --again with one number.
says 0 "the last run is now in $runs/clutrr-k234-s4.old" clutrr "$seeds" --array 4 --again
[[ -e $runs/clutrr-k234-s4.sittings.old && $(wc -l < "$runs/clutrr-k234-s4.sittings") == 2 ]] || failed "--again"

# ---- what is built, and which commit is recorded --------------------------------------------------------------------
# A separate checkout, with a cmake that makes the stub, and a compiler for which every header exists.
mkdir -p "$folder/checkout"
for part in scripts docs; do ln -s "$root/$part" "$folder/checkout/$part"; done
cat > "$folder/tools/cmake" <<'STUB'
#!/usr/bin/env bash
# --preset PRESET, or --build build/PRESET --target PROGRAM
echo "cmake $*" >> "$CALLS"
if [[ $1 == --build ]]; then mkdir -p "$2/bin" && cp "$STUB_PROGRAM" "$2/bin/$4"; fi
STUB
printf '#!/bin/sh\ncat > /dev/null\n' > "$folder/tools/compiler"
printf '#!/bin/sh\n' > "$folder/tools/ninja"
printf '#!/bin/sh\nif [ "$1" = rev-parse ]; then echo 1a2b3c4; else exit ${STUB_CHANGED:-0}; fi\n' > "$folder/tools/git"
chmod +x "$folder"/tools/*
in_checkout() {  # ARGUMENTS...: runs scripts/reproduce in that checkout
  (unset TRIAD_PROGRAMS && PATH=$folder/tools:$PATH CXX=$folder/tools/compiler \
    STUB_PROGRAM="$folder/the programs/clutrr" "$folder/checkout/scripts/reproduce" "$@") > "$folder/built" 2>&1 ||
    failed "reproduce $*: status $?: $(cat "$folder/built")"
}
commit_of() { sed -n "s/^began\t.*\t//p" "$runs/clutrr-k234-s$1.sittings"; }
: > "$CALLS"
in_checkout clutrr --build
[[ $(calls '^cmake --preset release$') == 1 && $(calls begins) == 0 ]] || failed "--build: $(cat "$CALLS")"
STUB_CHANGED=1 in_checkout clutrr "$seeds" --array 1
[[ $(commit_of 1) == "1a2b3c4 with changes" ]] || failed "the commit of 1: $(cat "$runs/clutrr-k234-s1.sittings")"
TRIAD_BACKEND=cuda in_checkout clutrr "$seeds" --array 2
[[ $(calls '^cmake --build build/cuda --target clutrr') == 1 && $(commit_of 2) == 1a2b3c4 ]] ||
  failed "for a GPU: $(cat "$CALLS" "$runs/clutrr-k234-s2.sittings")"
grep -q -e '--backend cuda' "$folder/built" || failed "no GPU: $(cat "$folder/built")"
# If a program was built later in another way, its commit is unknown.
touch -d '+1 hour' "$folder/checkout/build/release/bin/clutrr"
TRIAD_PROGRAMS="$folder/checkout/build/release/bin" says 0 "" clutrr "$seeds" --array 3
[[ $(commit_of 3) == unknown ]] || failed "the commit of 3: $(cat "$runs/clutrr-k234-s3.sittings")"
rm -rf "$folder/checkout" "$folder"/tools/*

# ---- GNU parallel, a loop of the shell ------------------------------------------------------------------------------
rm -rf "$runs" && : > "$CALLS"
seq 10 | xargs -P 2 -I '{}' "$root/scripts/reproduce" clutrr "$seeds" --array '{}' > "$folder/xargs.log"
ran_once {1..10}
has_parallel=false
if command -v parallel > /dev/null && parallel --version 2> /dev/null | grep -q GNU; then
  has_parallel=true
  rm -rf "$runs" && : > "$CALLS"
  # The number is given as an argument, and then by PARALLEL_SEQ. The second call finds that nothing is left to do.
  parallel --will-cite -j 2 "$root/scripts/reproduce" clutrr "'$seeds'" --array ::: {10..1} > "$folder/parallel.log"
  ran_once {1..10}
  parallel --will-cite -j 2 "$root/scripts/reproduce" clutrr "'$seeds'" --array '{}' ::: {10..1} \
    > "$folder/parallel.log"
  ran_once {1..10}
  [[ $(grep -c ': finished' "$folder/parallel.log") == 10 ]] || failed "$(cat "$folder/parallel.log")"
else
  echo "array: GNU parallel is left out, it is not installed here"
fi

# ---- scripts/cluster/*.sbatch, stubs of SLURM -----------------------------------------------------------------------
# Like SLURM, this sbatch copies the file, and runs it in this folder for each number. The last number is first, and two
# numbers run at the same time.
cat > "$folder/tools/sbatch" <<'STUB'
#!/usr/bin/env bash
set -euo pipefail
array='' cpus=1 gpus='' file=''
option() {
  case $1 in
    --array=*) array=${1#*=} ;;
    --cpus-per-task=*) cpus=${1#*=} ;;
    --gres=gpu:1) gpus=0 ;;
    --job-name=?* | --nodes=1 | --ntasks=1 | --mem=?* | --time=??:??:?? | --signal=TERM@[1-9]*) ;;
    *) echo "sbatch: unrecognized option '$1'" >&2 && exit 1 ;;
  esac
}
given=()
while [[ $1 == --* ]]; do given+=("$1") && shift; done
file=$1 && shift
while IFS= read -r line; do
  case $line in '#SBATCH '*) option "${line#\#SBATCH }" ;; '#'* | '') ;; *) break ;; esac
done < "$file"
for option in ${given[@]+"${given[@]}"}; do option "$option"; done  # options of the command line have priority
mkdir -p "$SPOOL/job00001"
cp "$file" "$SPOOL/job00001/slurm_script"
export SLURM_JOB_ID=1 SLURM_ARRAY_JOB_ID=1 SLURM_CPUS_PER_TASK=$cpus SLURM_SUBMIT_DIR=$PWD
if [[ -n $gpus ]]; then export CUDA_VISIBLE_DEVICES=$gpus; fi
if [[ -z $array ]]; then exec bash "$SPOOL/job00001/slurm_script" "$@"; fi
numbers=$(tr , '\n' <<< "${array%\%*}" | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done | tac)
status=0
# shellcheck disable=SC2016
xargs -P 2 -I '{}' bash -c 'export SLURM_ARRAY_TASK_ID=$1 && shift && exec bash "$@"' task '{}' \
  "$SPOOL/job00001/slurm_script" "$@" <<< "$numbers" || status=$?
exit $status
STUB
cat > "$folder/tools/srun" <<'STUB'
#!/usr/bin/env bash
[[ $1 == --cpus-per-task=[1-9]* ]] || { echo "srun: $*" >&2 && exit 1; }
shift
exec "$@"
STUB
chmod +x "$folder"/tools/*
# The programs are in the folders that the files name, in a checkout that has no other programs.
mkdir -p "$folder/checkout/build/release" "$folder/checkout/build/cuda"
for part in scripts docs; do ln -s "$root/$part" "$folder/checkout/$part"; done
for build in release cuda; do
  make_stub "$folder/checkout/build/$build/bin"
  # Each program prints its arguments.
  # shellcheck disable=SC2016
  sed -i '2i echo "'$build' gpu ${CUDA_VISIBLE_DEVICES-none} threads ${OMP_NUM_THREADS-none} $*"' \
    "$folder/checkout/build/$build/bin/clutrr"
done
unset TRIAD_PROGRAMS
export SPOOL="$folder/spool"
submit() { (cd "$folder/checkout" && PATH=$folder/tools:$PATH sbatch "$@" > "$folder/submitted" 2>&1); }
rm -rf "$runs" && : > "$CALLS"
submit --array=1-10 scripts/cluster/cpu.sbatch clutrr "$seeds" || failed "cpu.sbatch: $(cat "$folder/submitted")"
ran_once {1..10}
grep -q '^release gpu none threads 2 ' "$runs/clutrr-k234-s3.log" || failed "$(cat "$runs/clutrr-k234-s3.log")"
# The same job array is submitted again, and with other numbers: nothing is left to do.
submit --array=1,3-5%2 scripts/cluster/cpu.sbatch clutrr "$seeds" || failed "again: $(cat "$folder/submitted")"
ran_once {1..10}
rm -rf "$runs" && : > "$CALLS"
submit --array=1-10 scripts/cluster/gpu.sbatch clutrr "$seeds" || failed "gpu.sbatch: $(cat "$folder/submitted")"
ran_once {1..10}
grep -q '^cuda gpu 0 threads 1 .* --backend cuda' "$runs/clutrr-k234-s3.log" ||
  failed "$(cat "$runs/clutrr-k234-s3.log")"
# Without --array there is no number, which is an error. A number that is too large gives a message, and the other runs
# start.
if submit scripts/cluster/cpu.sbatch clutrr "$seeds"; then failed "no array, and status 0"; fi
grep -q -e '--array wants the number of a run' "$folder/submitted" || failed "$(cat "$folder/submitted")"
rm -rf "$runs" && : > "$CALLS"
if submit --array=9-12 scripts/cluster/cpu.sbatch clutrr "$seeds"; then failed "11 of 10, and status 0"; fi
ran_once 9 10
grep -q 'SLURM_ARRAY_TASK_ID is 11: there are 10 runs, 1 to 10' "$folder/submitted" ||
  failed "$(cat "$folder/submitted")"

# ---- the command blocks of docs/operations/cluster.md, as they are ---------------------------------------------------
block() {  # SECTION NUMBER: prints the block of commands with this number
  sed -n "/^## $1\$/,/^## /p" "$root/docs/operations/cluster.md" |
    awk -v number="$2" '/^```/ { inside = !inside; blocks += inside; next } inside && blocks == number'
}
run_block() {  # SECTION NUMBER
  block "$1" "$2" > "$folder/block"
  [[ -s $folder/block ]] || failed "docs/operations/cluster.md has no block $2 under $1"
  (cd "$folder/checkout" && PATH=$folder/tools:$PATH bash -euo pipefail "$folder/block") > "$folder/block.log" 2>&1 ||
    failed "$1, block $2: $(cat "$folder/block.log")"
}
# Several seeds on your own data: each seed has a job and a folder of its own, and one command collects them all.
for build in release cuda; do
  cat > "$folder/checkout/build/$build/bin/graphs" <<STUB
#!/usr/bin/env bash
echo "$build gpu \${CUDA_VISIBLE_DEVICES-none} threads \${OMP_NUM_THREADS-none} \$*" >> "\$CALLS"
STUB
  chmod +x "$folder/checkout/build/$build/bin/graphs"
done
expect_calls() {  # LINES...: calls that must have been made, in any order
  diff <(if (($# > 0)); then printf '%s\n' "$@" | sort; fi) <(sort "$CALLS") || failed "other calls than in docs/operations/cluster.md"
}
: > "$CALLS"
run_block "Ten seeds of your own data" 1
mapfile -t expected < <(for seed in {1..10}; do
  echo "release gpu none threads 2 train --data data --seed $seed --resume --out runs/mine/seed-$seed"
done)
expect_calls "${expected[@]}"
: > "$CALLS"
run_block "Ten seeds of your own data" 2
expect_calls "release gpu none threads none train --data data --seeds 10 --resume --out runs/mine"
: > "$CALLS"
run_block "Ten seeds of your own data" 3
expected=("${expected[@]/#release gpu none/cuda gpu 0}")
expect_calls "${expected[@]/--data data/--data data --backend cuda}"
: > "$CALLS"
if submit scripts/cluster/seeds.sbatch runs/mine build/release/bin/graphs train; then failed "no array, and status 0"; fi
grep -q 'no seed: submit it with --array=1-10' "$folder/submitted" || failed "$(cat "$folder/submitted")"
if submit --array=1-2 scripts/cluster/seeds.sbatch; then failed "no command, and status 0"; fi
grep -q 'expected the folder of all runs, and the command' "$folder/submitted" || failed "$(cat "$folder/submitted")"
expect_calls
for section in "SLURM, on processors" "SLURM, on GPUs" "GNU parallel" "A loop of the shell"; do
  if [[ $section == GNU* ]] && ! $has_parallel; then continue; fi
  rm -rf "$runs" && : > "$CALLS"
  run_block "$section" 1
  ran_once {1..10}
done
# Makes all runs of the group that are left, and no other runs. After that, no run is left.
left=$(cd "$folder/checkout" && scripts/reproduce clutrr --list | wc -l)
: > "$CALLS"
run_block "SLURM, on processors" 3
[[ $left != 0 && $(calls ends) == "$left" ]] || failed "$left were left, these ran: $(cat "$CALLS")"
[[ -z $(cd "$folder/checkout" && scripts/reproduce clutrr --list) ]] || failed "something is left"
TRIAD_PROGRAMS="$folder/the programs" run_block "Numbers" 1  # otherwise it would build the programs
grep -qF "clutrr-k234-s4: finished" "$folder/block.log" || failed "$(cat "$folder/block.log")"
