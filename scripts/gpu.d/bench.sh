# shellcheck shell=bash disable=SC2154
# Runs the benchmarks on the device, with nothing else on it. The figures are rows for docs/benchmarks.md.

timed() {  # LOG OPTIONS-OF-THE-BENCHMARK...
  step "$1" "$(bin triad-bench-cuda)" "${@:2}" || true
  if ! $dry_run; then sed 's/^/    /' "$log/$1.log" | tee -a "$report"; fi
}

# The stage may be cut anywhere, so it begins with what was never timed: triangles of more than 16 nodes in each
# precision, whose kernels differ, then the other kernels that changed. The long list follows.
stage_bench() {
  need_program triad-bench-cuda
  local how
  if ((${#names[@]})); then
    timed bench --filter="${names[0]}"
    return
  fi
  for how in float32 f16 tf32 bf16; do
    timed "bench-triangle-$how" --precision=$how --filter='^triangle/.*/b:(1/n:(128|512)|10/n:32)/'
  done
  timed bench-changed --filter='^(tree_machine_step|dropout/gelu|layer_norm|matmul_norm|adam)'
  timed bench
  for how in f16 tf32 bf16 tf32x3; do
    timed "bench-$how" --precision=$how --filter='clutrr_step|layer/train/b:(400|1/n:512)|attention/train/b:1/n:256/d:200'
  done
}
