#!/usr/bin/env bash
# Tests scripts/cluster/cpu.sbatch with SLURM itself. This machine is SLURM's only node, and the test starts daemons of
# its own:
#   slurm.sh ROOT FOLDER
# The status is 77 if SLURM or MUNGE are not installed or do not start here. Their output is then in FOLDER/*.log.
set -euo pipefail
root=$1 folder=$2
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd sbatch squeue scancel sinfo; do
  if ! command -v $tool > /dev/null; then
    echo "slurm: left out, there is no $tool here: apt-get install slurm-wlm munge" && exit 77
  fi
done
rm -rf "$folder"
mkdir -p "$folder/state" "$folder/spool"
chmod 755 "$folder" "$folder/state" "$folder/spool"
source "$root/tests/scripts/array_stub.sh"
daemons=()
stop_daemons() {
  local daemon
  for daemon in ${daemons[@]+"${daemons[@]}"}; do kill "$daemon" 2> /dev/null || true; done
  for daemon in ${daemons[@]+"${daemons[@]}"}; do wait "$daemon" 2> /dev/null || true; done
}
trap stop_daemons EXIT
failed() { echo "slurm: $1" >&2 && exit 1; }
left_out() {
  echo "slurm: left out, $1: $(tail -qn 2 "$folder"/*.log 2> /dev/null | tr '\n' ' ')" && exit 77
}
later() {  # SECONDS COMMAND...: repeats the command until it succeeds
  local end=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    if ((SECONDS >= end)); then return 1; fi
    sleep 0.2
  done
}

# ---- the daemons ----------------------------------------------------------------------------------------------------
# Paths of sockets must be short. munged needs a folder to which no other user can write.
sockets=$(mktemp -d "${TMPDIR:-/tmp}/triad-slurm-XXXXXX")
trap 'touch "$folder/go-on"; stop_daemons; rm -rf "$sockets"' EXIT
chmod 755 "$sockets"
head -c 1024 /dev/urandom > "$sockets/key" && chmod 600 "$sockets/key"
munged --foreground --socket="$sockets/munge" --key-file="$sockets/key" --pid-file="$sockets/munged.pid" \
  --seed-file="$sockets/seed" > "$folder/munged.log" 2>&1 &
daemons+=($!)
later 10 test -S "$sockets/munge" || left_out "munged does not start here"
port=$((20000 + $$ % 20000))
node=$(uname -n) && node=${node%%.*}
user=$(id -un)
cat > "$folder/slurm.conf" <<CONF
ClusterName=triad
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$sockets/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$sockets/slurmctld.pid
SlurmdPidFile=$sockets/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=1,bf_interval=1
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
slurmctld -D -f "$SLURM_CONF" > "$folder/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" -N "$node" > "$folder/slurmd.log" 2>&1 &
daemons+=($!)
is_idle() { [[ $(sinfo --noheader --format=%T) == idle ]]; }
later 30 is_idle || left_out "SLURM does not start here"

# ---- job arrays -----------------------------------------------------------------------------------------------------
mkdir -p "$folder/checkout/build/release"
for part in scripts docs; do ln -s "$root/$part" "$folder/checkout/$part"; done
make_stub "$folder/checkout/build/release/bin"
export TRIAD_RUNS="$folder/the runs" TRIAD_DATA=$folder/data CALLS=$folder/calls
unset TRIAD_PROGRAMS TRIAD_BACKEND SLURM_ARRAY_TASK_ID PARALLEL_SEQ
: > "$CALLS"
seeds='clutrr-k234-s*'
submit() {
  (cd "$folder/checkout" && timeout 120 sbatch --cpus-per-task=1 --mem=100M "$@") >> "$folder/submitted" 2>&1
}
said() { cat "$folder/submitted" "$folder"/checkout/slurm-*.out 2> /dev/null || true; }
calls() { grep -cE -e "$1" "$CALLS" || true; }

submit --wait --array=1-6 scripts/cluster/cpu.sbatch clutrr "$seeds" || failed "status $?: $(said)"
for seed in {1..6}; do
  [[ $(calls "^$seed begins") == 1 && $(calls "^$seed ends") == 1 ]] || failed "seed $seed: $(cat "$CALLS") $(said)"
done
grep -q -P '^began\t.*, threads: 1\t' "$TRIAD_RUNS/clutrr-k234-s2.sittings" ||
  failed "the sittings: $(cat "$TRIAD_RUNS/clutrr-k234-s2.sittings")"
# A number that does not exist fails. The run of the number before it is made.
if submit --wait --array=10,11 scripts/cluster/cpu.sbatch clutrr "$seeds"; then failed "11 of 10, and status 0"; fi
[[ $(calls '^10 ends') == 1 ]] || failed "number 10 did not run: $(said)"
grep -q 'SLURM_ARRAY_TASK_ID is 11: there are 10 runs, 1 to 10' "$folder"/checkout/slurm-*_11.out || failed "$(said)"
# SLURM sends a signal before the time limit. The run is saved, and the same job array, submitted again, resumes it.
export STUB_HOLD=$folder/go-on
submit --array=7-8 scripts/cluster/cpu.sbatch clutrr "$seeds" || failed "$(said)"
begun() { [[ $(calls '^[78] epoch 1') == 2 ]]; }
later 60 begun || failed "7 and 8 do not begin: $(said)"
job=$(squeue --noheader --array --format=%F | head -n 1 | tr -d ' ')
scancel --signal=TERM "${job}_7"
scancel --signal=KILL "${job}_8"
ended() { [[ -z $(squeue --noheader) ]]; }
later 60 ended || failed "they do not end: $(squeue) $(said)"
unset STUB_HOLD
tail -n 1 "$TRIAD_RUNS/clutrr-k234-s7.sittings" | grep -qP '^ended\t.*\t143$' || failed "not saved: $(said)"
grep -q '^interrupted; the checkpoint is in' "$TRIAD_RUNS/clutrr-k234-s7.log" || failed "the log of 7: $(said)"
[[ ! -e $TRIAD_RUNS/clutrr-k234-s7.finished && ! -e $TRIAD_RUNS/clutrr-k234-s8.finished ]] || failed "they are finished"
submit --wait --array=7-8 scripts/cluster/cpu.sbatch clutrr "$seeds" || failed "status $?: $(said)"
for seed in 7 8; do
  [[ $(calls "^$seed epoch 1") == 1 && $(calls "^$seed epoch 3") == 1 && $(calls "^$seed ends") == 1 ]] ||
    failed "seed $seed did not go on: $(cat "$CALLS")"
done
table=$("$root/scripts/reproduce" clutrr "$seeds" --collect) || failed "no table: $(said)"
grep -qF 'mean ± standard error, 9 seeds' <<< "$table" || failed "$table"
echo "slurm: $(sbatch --version), 9 runs"
