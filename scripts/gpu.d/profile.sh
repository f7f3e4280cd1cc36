# shellcheck shell=bash disable=SC2154
# Writes Nsight Compute's figures of the triangle's kernels, forward and backward, from small graphs to large ones, in
# float32 and on tensor cores. Then writes the time of each kernel of a step. Tables are CSV with a line for each
# launch.

# Writes the figures of what triad-bench-cuda runs for a profiler: LOG METRICS FILTER OPTIONS-OF-THE-BENCHMARK...
profiled() {
  local name=$1 metrics=$2 filter=$3
  shift 3
  # shellcheck disable=SC2086  # options and their values
  step "ncu-$name" ncu --clock-control none --profile-from-start off --nvtx --force-overwrite \
    --export "$log/$name.ncu-rep" $metrics "$(bin triad-bench-cuda)" --once --filter="$filter" "$@" || return 0
  if $dry_run; then return; fi
  ncu --import "$log/$name.ncu-rep" --page raw --csv > "$log/$name.csv" 2> "$log/$name.errors" || true
  ncu --import "$log/$name.ncu-rep" --page details > "$log/$name.details" 2>> "$log/$name.errors" || true
}

stage_profile() {
  need_program triad-bench-cuda
  if ! command -v ncu > /dev/null && ! $dry_run; then
    say "    ncu is missing on this machine: nothing was profiled" && failures=$((failures + 1)) && return
  fi
  local shape how
  for shape in b:1/n:512/d:128 b:1/n:128/d:200 b:400/n:5/d:200 b:40/n:16 b:10/n:32/d:200; do
    profiled "${shape//[:\/]/-}" "--set full" "^triangle/train/$shape"
  done
  for how in tf32x3 tf32 f16 bf16; do
    profiled "b-1-n-512-$how" "--set full" "^triangle/train/b:1/n:512/d:128" --precision=$how
  done
  # One pass over each kernel. The time to launch is not included.
  for shape in tree_machine_step/depth:10 cogs_step clutrr_step; do
    profiled "${shape%%/*}" "--cache-control none --launch-count 3000 --metrics gpu__time_duration.sum" "^$shape"
  done
}
