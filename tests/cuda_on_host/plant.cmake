# Writes copies of CUDA headers in which faults can be switched on: cmake -D ROOT=. -D OUT=DIR -P plant.cmake
# SPDX-License-Identifier: Apache-2.0
#
# Each fault replaces one expression by PLANTED(fault, wrong, right), a macro that planted_in_kernels.cpp defines. The
# expression must occur exactly once in its header. If the code of the expression changes, the fault must be changed,
# too.
function(plant header fault right wrong)
  set(file "${OUT}/triad/${header}")
  if(NOT EXISTS "${file}")
    file(READ "${ROOT}/include/triad/${header}" text)
  else()
    file(READ "${file}" text)
  endif()
  string(FIND "${text}" "${right}" first)
  string(FIND "${text}" "${right}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "plant.cmake: triad/${header} should have \"${right}\" once, for the fault `${fault}`")
  endif()
  string(REPLACE "${right}" "PLANTED(${fault}, (${wrong}), (${right}))" text "${text}")
  file(WRITE "${file}" "${text}")
endfunction()

file(REMOVE_RECURSE "${OUT}/triad")
# A row of the table gets the rows that belong to the row before it.
plant(cuda/gather.cuh owner "ByPlace ? key[item] : item" "ByPlace ? key[item > 0 ? item - 1 : item] : item")
# Every row of a run owns the run, instead of only the first.
plant(cuda/gather.cuh owners "ByPlace && item > 0 && key[item - 1] == key[item]" "false")
# The sort is not stable: it reverses the rows of a run.
plant(cuda/device/primitives.cuh order "from.key[k] == from.key[i] && k < i" "from.key[k] == from.key[i] && k > i")
# A graph that pads a batch counts as a question.
plant(batches/graph_loader.hpp answer "target_[g] = -1" "target_[g] = 0")
# Attention: registers are not rescaled when a larger score follows; in backward, registers lose the sums of earlier
# keys.
plant(cuda/attention.cuh shrink "mixed[r][piece] * shrink[r] + sum[r]" "mixed[r][piece] + sum[r]")
plant(cuda/attention.cuh forget "d_query[r][piece] + sum[r]" "sum[r]")
# tf32x3: the low part of a factor is omitted.
plant(cuda/matmul.cuh low "low_first ? low : high" "low_first ? 0.0f : high")
# Thrust: a view begins after the first value of its vector.
plant(cuda/device/thrust_views.cuh first "tensor<T, dyn, dyn>(thrust::raw_pointer_cast(v.data()), rows, columns)"
      "tensor<T, dyn, dyn>(thrust::raw_pointer_cast(v.data()) + 1, rows, columns)")
# Small graphs: in each half, every column after the second is replaced by the column before it. Dropout does not count
# the gap between lines of triangles.
plant(cuda/triangle/small.cuh column "key + c + e * cut.stride" "key + c + (e < 2 ? e : e - 1) * cut.stride")
plant(cuda/triangle/small.cuh line "numbers[e + e / at.n * (at.line() - at.n)]" "numbers[e]")
file(WRITE "${OUT}/stamp" "")
