# shellcheck shell=bash disable=SC2154
# Nsight Compute's figures of the triangle's kernels, forward and backward, small and tiled.

stage_profile() {
  need_program triad-bench-cuda
  if ! command -v ncu > /dev/null && ! $dry_run; then
    say "    ncu is missing on this machine: nothing was profiled" && failures=$((failures + 1)) && return
  fi
  local shape metrics=sm__throughput.avg.pct_of_peak_sustained_elapsed,gpu__time_duration.sum
  metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__throughput.avg.pct_of_peak_sustained_elapsed
  metrics+=,l1tex__throughput.avg.pct_of_peak_sustained_elapsed
  metrics+=,sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active,launch__registers_per_thread
  metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__issue_active.avg.pct_of_peak_sustained_active
  for shape in b:400/n:5 b:1/n:128 b:1/n:256; do
    step "ncu-${shape//[:\/]/-}" ncu --clock-control none --metrics "$metrics" --csv --launch-count 12 \
      --nvtx --print-nvtx-rename kernel "$(bin triad-bench-cuda)" --filter="^triangle/train/$shape/d:200" || true
  done
}
