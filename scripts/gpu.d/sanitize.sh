# shellcheck shell=bash disable=SC2154
# Runs compute-sanitizer on named cases: memcheck on all that access device memory, racecheck on a small and a tiled
# shape.

sanitizer() {
  local toolkit
  toolkit=$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
  command -v compute-sanitizer ||
    find "$toolkit" "$toolkit/../compute-sanitizer" -maxdepth 1 -name compute-sanitizer -type f 2> /dev/null |
    head -n 1 || true
}

stage_sanitize() {
  local tool found program pids=() pid
  found=$(sanitizer)
  if [[ -z $found ]] && ! $dry_run; then
    say "    compute-sanitizer is missing on this machine: nothing was sanitised"
    failures=$((failures + 1))
    return
  fi
  need_program triad-test-cuda
  program=$(bin triad-test-cuda)
  # Runs several at once, since the host and not the GPU makes each of them slow.
  sanitized() { step "$1-$2" "$found" --tool "$1" --error-exitcode 9 "$program" "$3"; }
  for tool in memcheck racecheck initcheck synccheck; do
    sanitized $tool small "graphs of a few nodes*" & pids+=($!)
    sanitized $tool tiled "larger graphs*" & pids+=($!)
  done
  sanitized memcheck tensor-cores "products on tensor cores*" & pids+=($!)
  sanitized racecheck tensor-cores "products on tensor cores*" & pids+=($!)
  sanitized memcheck rows "rows are gathered*" & pids+=($!)
  for tool in memcheck racecheck; do sanitized $tool norm "the gradient of layer norm on a device*" & pids+=($!); done
  sanitized memcheck softmax "softmax on a device*" & pids+=($!)
  sanitized memcheck relation "relation-aware attention on a device*" & pids+=($!)
  sanitized memcheck products "what follows a product*" & pids+=($!)
  sanitized memcheck product-and-norm "a product with a norm*" & pids+=($!)
  sanitized memcheck f16 "values in f16*" & pids+=($!)
  for pid in "${pids[@]}"; do wait "$pid" || failures=$((failures + 1)); done
}
