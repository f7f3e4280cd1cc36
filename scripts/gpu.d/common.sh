# shellcheck shell=bash
# What the stages of scripts/gpu share: paths, one line of the report for each step, and the time left.
# shellcheck disable=SC2154  # out, dry_run, stages and seconds are scripts/gpu's

state=build/gpu  # has bin/ lib/ golden/ data/ runs/ log/
log=$state/log
report=$log/report.md
failures=0
deadline=0

# Unpacks the packed programs, unless they are unpacked already. Programs that were compiled here stay.
unpack_programs() {
  if [[ ! -f $state.tar.xz ]]; then return; fi
  if [[ -d $state/bin && ! -e $state.unpacking ]] && [[ ! -e $state.unpacked || ! $state.tar.xz -nt $state.unpacked ]]; then
    return
  fi
  touch $state.unpacking  # until everything is unpacked: an interrupted unpacking starts again
  rm -rf $state/{bin,lib,include}
  if command -v xz > /dev/null; then
    tar -C build -xJf $state.tar.xz
  elif command -v python3 > /dev/null; then
    python3 -m tarfile -e $state.tar.xz build
  else
    echo "gpu: neither xz nor python3 is here to unpack $state.tar.xz: install xz-utils" >&2 && exit 2
  fi
  rm -f $state.unpacking
  touch $state.unpacked
}

begin_stage() {  # NAME: unpacks the programs, and then starts the stage's time
  if [[ $1 != prebuild && $1 != pack ]]; then unpack_programs; fi
  deadline=$((SECONDS + ${TRIAD_GPU_STAGE_SECONDS:-${seconds[$1]:-480}}))
  if [[ $1 == prebuild || $1 == pack ]]; then return; fi
  mkdir -p "$log"
  # Appends the toolkit's libraries, or those of Python's packages, after our own.
  local folders=("$PWD/$state/lib" /usr/local/cuda/lib64) folder
  while IFS= read -r folder; do folders+=("$folder"); done < <(python3 -c '
import glob, nvidia
for path in nvidia.__path__: print("\n".join(glob.glob(path + "/*/lib")))' 2> /dev/null || true)
  for folder in "${folders[@]}"; do
    if [[ -d $folder && :${LD_LIBRARY_PATH:-}: != *:$folder:* ]]; then
      export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
    fi
  done
  say ""
  say "## $1, $(date -u +%F\ %H:%M), commit $(commit)"
  say ""
}

# The commit of the programs. The checkout next to packed programs may have another commit.
commit() {
  if [[ -x $state/bin/triad-test-cuda ]] && cat $state/commit 2> /dev/null; then return; fi
  git rev-parse --short HEAD 2> /dev/null || echo unknown
}
left() { echo $((deadline > SECONDS ? deadline - SECONDS : 1)); }
say() { printf '%s\n' "$*" | tee -a "$report"; }

# The path of a program that was prebuilt or built here.
bin() { if [[ -x $state/bin/$1 ]]; then echo "$state/bin/$1"; else echo "build/cuda/bin/$1"; fi; }
need_program() {  # NAME...
  local name
  for name in "$@"; do
    if [[ ! -x $(bin "$name") ]] && ! $dry_run; then
      echo "gpu: there is no $name: carry build/gpu.tar.xz here (scripts/gpu prebuild pack)," \
        "or build it: scripts/gpu build" >&2
      exit 2
    fi
  done
}

verdict_of() {  # STATUS
  case $1 in
    0) echo passed ;;
    77) echo 'NO GPU' ;;
    124 | 137) echo 'OUT OF TIME' ;;
    *) echo "FAILED ($1)" ;;
  esac
}

# Runs a function and all that it starts. When the stage's time is over, it ends them and returns timeout's status, 124.
limited() {  # FUNCTION ARGUMENTS...
  local run watch status=0 end=$((SECONDS + $(left)))
  set -m  # starts each job in a process group of its own
  ("$@") &
  run=$!
  (sleep "$(left)" && kill -INT -- -$run && sleep 10 && kill -KILL -- -$run) > /dev/null 2>&1 &
  watch=$!
  set +m
  wait $run || status=$?
  kill -- -$watch 2> /dev/null || true
  wait $watch 2> /dev/null || true
  if ((status > 128 && SECONDS >= end)); then status=124; fi
  return $status
}

# Runs a command with its output in the log LOG. Reports one line: name, verdict, seconds, and the log's last line.
step() {  # LOG COMMAND...
  local name=$1 status=0 begin=$SECONDS
  shift
  if $dry_run; then say "    $name: $*" && return; fi
  if [[ $(type -t "$1") == function ]]; then
    limited "$@" > "$log/$name.log" 2>&1 || status=$?
  else
    timeout --signal=INT --kill-after=10 "$(left)" "$@" > "$log/$name.log" 2>&1 || status=$?
  fi
  # With Catch2 version 2 a name that no case has is a success.
  if ((status == 0)) && grep -q '^No tests ran' "$log/$name.log"; then status=66; fi
  ((status == 0)) || failures=$((failures + 1))
  say "$(printf '    %-28s %-12s %5d s  %s' "$name" "$(verdict_of $status)" $((SECONDS - begin)) \
    "$(grep -v '^ *$' "$log/$name.log" | tail -n 1 | cut -c 1-110)")"
  return $status
}

# Copies the report and the logs to --out. Runs after each stage, so that a call that is killed leaves what it has.
deliver() {
  if [[ ! -f $report || -z $out ]]; then return; fi
  mkdir -p "$out"
  cp "$report" "$out/report.md"
  local parts=(log)
  if [[ -d $state/runs ]]; then parts+=(runs); fi
  # Status 1: another run wrote to its files meanwhile.
  tar -C $state --exclude='*.safetensors*' -czf "$out/logs.tar.gz" "${parts[@]}" || (($? == 1)) || {
    echo "gpu: $out/logs.tar.gz: not written" >&2
    failures=$((failures + 1))
  }
}

finish() {
  if ((failures)); then echo "$failures failed" && exit 1; fi
  exit 0
}
