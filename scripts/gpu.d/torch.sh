# shellcheck shell=bash disable=SC2154
# Times PyTorch's equivalent of each benchmark on the same device, and prints the ratio of the two times.

stage_torch() {
  if ! $dry_run && ! python3 -c 'import torch; assert torch.cuda.is_available()' > "$log/torch-found.log" 2>&1; then
    say "    python3 has no PyTorch that sees a GPU: nothing to compare with"
    failures=$((failures + 1))
    return
  fi
  step torch python3 bench/torch_on_cuda.py || true
  if $dry_run || [[ ! -f $log/bench.log ]]; then return; fi
  # Joins PyTorch's milliseconds and MiB with ours by name; also ours called from Python, and in a
  # CUDA graph, if triad_torch was found.
  awk 'FNR == NR { if (NF >= 9 && $2 + 0 > 0) { ms[$1] = $2; total[$1] = $9 } next }
    $1 == "name" { printf "    %-48s %10s %10s %10s %8s %9s %9s %10s %10s\n",
      "name", "triad ms", "eager ms", "compiled", "ratio", "triad MiB", "torch MiB", "by Python", "graphed" }
    $1 in ms { best = $2 + 0 > 0 && ($3 + 0 == 0 || $2 + 0 < $3 + 0) ? $2 : $3
      printf "    %-48s %10.3f %10s %10s %8.2f %9.1f %9s %10s %10s\n", $1, ms[$1], $2, $3, best / ms[$1], total[$1], $4,
        $5 == "" ? "-" : $5, $6 == "" ? "-" : $6 }' \
    "$log/bench.log" "$log/torch.log" | tee -a "$report"
}
