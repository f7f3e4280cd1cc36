# shellcheck shell=bash disable=SC2154
# Writes Nsight Compute's figures of kernels: the time of each kernel of a step, and all figures of the triangle's
# kernels. Tables are CSV with a line for each launch. The stage may be cut anywhere, so the kernels that were never
# profiled come first.

# Writes the figures of what triad-bench-cuda runs for a profiler: LOG METRICS FILTER OPTIONS-OF-THE-BENCHMARK...
# A profile may take TRIAD_GPU_PROFILE_SECONDS: 512 nodes must not take the time of all others.
profiled() {
  local name=$1 metrics=$2 filter=$3 end=$((SECONDS + ${TRIAD_GPU_PROFILE_SECONDS:-40})) status=0
  local deadline=$((end < deadline ? end : deadline))  # `step`, which this function calls, sees this one
  shift 3
  # shellcheck disable=SC2086  # options and their values
  step "ncu-$name" ncu --clock-control none --profile-from-start off --nvtx --force-overwrite \
    --export "$log/$name.ncu-rep" $metrics "$(bin triad-bench-cuda)" --once --filter="$filter" "$@" || status=$?
  if $dry_run || [[ ! -e $log/$name.ncu-rep && $status != 0 ]]; then return 0; fi
  ncu --import "$log/$name.ncu-rep" --page raw --csv > "$log/$name.csv" 2> "$log/$name.errors" || true
  ncu --import "$log/$name.ncu-rep" --page details > "$log/$name.details" 2>> "$log/$name.errors" || true
}

stage_profile() {
  need_program triad-bench-cuda
  if ! command -v ncu > /dev/null && ! $dry_run; then
    say "    ncu is missing on this machine: nothing was profiled" && failures=$((failures + 1)) && return
  fi
  local shape how
  # One pass over each kernel. The time to launch is not included.
  step_profiled() {  # SHAPE
    profiled "${1%%/*}" "--cache-control none --launch-count 3000 --metrics gpu__time_duration.sum" "^$1"
  }
  step_profiled tree_machine_step/depth:10
  # Backward is one kernel for all precisions, and tf32x3 has the triangles of float32.
  for how in f16 tf32 bf16; do
    profiled "b-1-n-512-$how" "--set full" "^triangle/forward/b:1/n:512/d:128" --precision=$how
  done
  for shape in b:1/n:128/d:200 b:10/n:32/d:200 b:1/n:512/d:128 b:40/n:16 b:400/n:5/d:200; do
    profiled "${shape//[:\/]/-}" "--set full" "^triangle/train/$shape"
  done
  step_profiled cogs_step
  step_profiled clutrr_step
}
