# shellcheck shell=bash
# Runs of scripts/reproduce on the device, several side by side, in build/gpu/runs; a run that was begun goes on.

stage_train() {
  local jobs=${TRIAD_GPU_RUNS:-8} name list=()
  for name in "${names[@]:-clutrr}"; do list+=("$name"); done
  need_program clutrr
  export TRIAD_RUNS=$PWD/$state/runs TRIAD_PROGRAMS=$PWD/$state/bin TRIAD_BACKEND=cuda OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  if [[ ! -d $TRIAD_PROGRAMS ]]; then TRIAD_PROGRAMS=$PWD/build/cuda/bin; fi
  if [[ -d $state/data ]]; then export TRIAD_DATA=$PWD/$state/data; fi
  if $dry_run; then say "    scripts/reproduce ${list[*]}, $jobs side by side" && return; fi
  mkdir -p "$TRIAD_RUNS"
  # GROUP/RUN, one call each.  An interrupt lets a run save.
  # shellcheck disable=SC2016  # for the inner shell
  printf '%s\n' "${list[@]}" | xargs -P "$jobs" -I '{}' timeout --signal=INT --kill-after=20 "$(left)" \
    bash -c 'name={}; scripts/reproduce "${name%%/*}" "${name#*/}" --no-install > /dev/null 2>&1' || true
  for name in "${list[@]}"; do
    name=${name#*/}
    if [[ -e $TRIAD_RUNS/$name.finished ]]; then say "    $name: finished"; else say "    $name: NOT FINISHED"; fi
    if [[ -f $TRIAD_RUNS/$name.log ]]; then tail -n 14 "$TRIAD_RUNS/$name.log" | cut -c 1-150 | sed 's/^/        /' | tee -a "$report"; fi
  done
}
