#!/usr/bin/env bash
# Tests that programs warn if OpenBLAS computes with kernels for an older processor, and that training prints which
# kernels compute:
#   products.sh ROOT FOLDER BUILD
# Status 77 where the BLAS is not an OpenBLAS with kernels for several processors.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
root=$1 folder=$2 graphs=$3/bin/graphs
rm -rf "$folder"
mkdir -p "$folder/data"
fail() {
  echo "products.sh: $1" >&2
  exit 1
}
question='{"nodes": 3, "edges": [[0, "left", 1], [1, "above", 2]], "query": [0, 2]'
for part in train dev test; do
  for _ in 1 2 3 4; do echo "$question, \"target\": \"left-above\"}"; done > "$folder/data/$part.jsonl"
done
train() { "$graphs" train --data "$folder/data" --epochs 1 --layers 1 --width 8 --heads 1 "$@" > "$folder/out" 2> "$folder/err" || (($? == 3)); }

unset OPENBLAS_CORETYPE
train
grep -qE '^products by .+: [1-9][0-9]* of [1-9][0-9]* GFLOP/s a core$' "$folder/out" ||
  fail "training does not print what computes its products: $(< "$folder/out")"
(($(grep -c '^products by' "$folder/out") == 1)) || fail "the line is printed more than once"
train --products blas
grep -q '^products by OpenBLAS' "$folder/out" || exit 77

# Nehalem has no AVX2.  Every program gives the same answers.  It prints the warning once, and not among its answers.
export OPENBLAS_CORETYPE=Nehalem
train --products blas
grep -q 'Nehalem kernels' "$folder/out" || exit 77
grep -q avx2 /proc/cpuinfo || exit 77
(($(grep -c 'its Nehalem kernels use no AVX2 where this processor has AVX.*OPENBLAS_CORETYPE=Nehalem in the environment chose them: unset it' "$folder/err") == 1)) ||
  fail "there is no warning, or more than one: $(< "$folder/err")"
"$graphs" train --data "$folder/data" --epochs 1 --layers 1 --width 8 --heads 1 --backend reference > "$folder/out" 2> "$folder/err" || (($? == 3))
grep -q 'products by\|kernels' "$folder/out" "$folder/err" && fail "the reference backend calls no BLAS, and the program speaks of one"
echo "products.sh: the kernels are named, and old ones are a warning"
