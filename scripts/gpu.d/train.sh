# shellcheck shell=bash disable=SC2016,SC2086,SC2154
# Makes runs of scripts/reproduce on the device, several at once, in build/gpu/runs; an interrupted run is resumed.

service=  # the folder of the service that this stage has started

# Starts NVIDIA's multi-process service if it is installed and works: kernels of several processes then run at the same
# time. Without it processes take turns. A service that another process has started is left alone.
begin_service() {
  if [[ -n ${CUDA_MPS_PIPE_DIRECTORY:-} ]] || ! command -v nvidia-cuda-mps-control > /dev/null; then return; fi
  service=$(mktemp -d)  # its path is short: sockets in it have a limit on their length
  trap end_service EXIT
  export CUDA_MPS_PIPE_DIRECTORY=$service CUDA_MPS_LOG_DIRECTORY=$PWD/$log
  if timeout 30 nvidia-cuda-mps-control -d > "$log/service.log" 2>&1 && small_run_ends; then
    say "    kernels of several runs at once: NVIDIA's multi-process service" && return
  fi
  end_service
  say "    runs take turns: NVIDIA's multi-process service does not work here ($log/service.log, control.log, server.log)"
}
small_run_ends() {
  local status=0
  timeout 60 "$(bin clutrr)" train --preset smoke --seed 1 --backend cuda --out "$service/run" \
    >> "$log/service.log" 2>&1 || status=$?
  ((status == 0 || status == 3))  # 3: the model did not learn, as expected of so short a run
}
end_service() {
  if [[ -z $service ]]; then return; fi
  echo 'quit -t 10' | timeout 30 nvidia-cuda-mps-control >> "$log/service.log" 2>&1 || true
  rm -rf "$service"
  service=
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

one_run() {  # GROUP/RUN LOG UNTIL: sends an interrupt at UNTIL, in seconds since 1970, so that the run saves
  local left=$(($3 - $(date +%s)))
  ((left > 0)) || return 0
  # The run gets a minute beyond the stage's time to save: if one process is killed under the service, all others fail.
  timeout --signal=INT --kill-after=60 $left scripts/reproduce "${1%%/*}" "${1#*/}" --no-install \
    > "$2/train-${1#*/}.log" 2>&1 || true
}
export -f one_run

stage_train() {
  local jobs=${TRIAD_GPU_RUNS:-8} name runs list=()
  need_program clutrr
  export TRIAD_RUNS=$PWD/$state/runs TRIAD_PROGRAMS=$PWD/$state/bin TRIAD_BACKEND=cuda
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  if [[ ! -d $TRIAD_PROGRAMS ]]; then TRIAD_PROGRAMS=$PWD/build/cuda/bin; fi
  if [[ -d $state/data ]]; then export TRIAD_DATA=$PWD/$state/data; fi
  # A GROUP stands for all its runs that are left.
  for name in "${names[@]:-clutrr}"; do
    if [[ $name == */* ]]; then list+=("$name") && continue; fi
    runs=$(scripts/reproduce "$name" --list) || exit 2
    for runs in $runs; do list+=("$name/$runs"); done
  done
  if ((${#list[@]} == 0)); then say "    nothing of ${names[*]:-clutrr} is left" && return; fi
  if $dry_run; then say "    scripts/reproduce ${list[*]}, $jobs side by side" && return; fi
  mkdir -p "$TRIAD_RUNS"
  rm -f "$log"/train-*.log
  begin_service
  printf '%s\n' "${list[@]}" |
    xargs -P "$jobs" -I '{}' bash -c 'one_run "$@"' train '{}' "$log" $(($(date +%s) + $(left))) || true
  end_service
  for name in "${list[@]}"; do
    name=${name#*/}
    local output=$TRIAD_RUNS/$name.log
    if [[ -e $TRIAD_RUNS/$name.finished ]]; then
      say "    $name: finished"
    elif [[ ! -f $log/train-$name.log ]]; then
      say "    $name: not begun, the time was over" && continue
    elif [[ -f $output ]] && tail -n 1 "$output" | grep -q '^interrupted; '; then
      say "    $name: NOT FINISHED; the same call goes on"
    else
      say "    $name: FAILED"
      failures=$((failures + 1))
      output=$log/train-$name.log
    fi
    tail -n 14 "$output" | cut -c 1-150 | sed 's/^/        /' | tee -a "$report"
  done
}
