# shellcheck shell=bash disable=SC2154
# Runs the benchmarks on the device, with nothing else on it. The figures are rows for docs/benchmarks.md.

stage_bench() {
  need_program triad-bench-cuda
  step bench "$(bin triad-bench-cuda)" ${names[0]+--filter="${names[0]}"} || true
  if ! $dry_run; then sed 's/^/    /' "$log/bench.log" | tee -a "$report"; fi
  local how
  for how in tf32x3 tf32 f16 bf16; do
    step "bench-$how" "$(bin triad-bench-cuda)" --precision=$how \
      --filter='clutrr_step|train/b:1/n:(128|256)/d:200|layer/train/b:400|^triangle/.*/b:1/n:512' || true
    if ! $dry_run; then sed 's/^/    /' "$log/bench-$how.log" | tee -a "$report"; fi
  done
}
