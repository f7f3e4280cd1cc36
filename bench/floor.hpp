// The least time that some work can take on this machine.  It is computed from rates that are measured just before the
// work is timed.
// SPDX-License-Identifier: Apache-2.0
//
//   floor = products + kernels + exp + stream
//
//   products   every matrix product with a weight, at the speed of BLAS for exactly that shape.  The arrays have the
//              real size, so their own memory traffic is included; bias, activation and dropout are not.
//   kernels    multiply-adds other than products with a weight, at the rate of multiply-adds without memory access: the
//              triangle, n^3 d for each graph times
//                forward  3 = score 1, output 2                          (value ablation 2: output 1)
//                backward 8 = score again 1, dp 2, dv1 and dv2 3, dq 1, dk 1   (value ablation 5: dp 1, dv1 1)
//              attention, d for each pair of query and key times
//                forward  2 = score 1, output 1
//                backward 5 = score again 1, dp 1, dq, dk and dv 3
//              fuse-attention, h d for each token and layer below times
//                forward  2 = score 1, mixed states 1
//                backward 4 = dp 1, du 1, dx 2
//   exp        one for each head of each triple, pair, or token and layer, forward, and again backward if the weights
//              are recomputed, at the rate of a vector exp in L1
//   stream     bytes of the triangle's arrays that cannot stay in cache, at the speed of a copy of the same number of
//              bytes.  Graphs are small if all ten arrays of a graph fit in the second-level cache of one core.  Then
//              projections and triangle can run graph by graph, and only the arrays saved for backward (q, k, v1, v2,
//              softmax statistics) are read from memory again; if the whole batch fits, nothing is.  Larger graphs:
//              every input and output of the triangle once, forward 5 arrays of (rows, d), backward 10.  Attention and
//              fuse-attention, which are timed alone: every input and output once, unless all of them fit.
//
// For training steps of Transformers, attention and fuse-attention are left out: their floor consists only of the
// products with weights.  The floor omits norms, dropout, embedding, loss, clipping, Adam and packing, so that it is
// surely below what is possible.
#pragma once

#include "probe.hpp"
#include "work.hpp"

namespace bench {

/// The seconds of each part of the floor.
struct floor_seconds {
  double products = 0, kernels = 0, exp = 0, stream = 0;
  double total() const { return products + kernels + exp + stream; }
};

inline floor_seconds measure_floor(triad::cpu::backend& ex, work_model const& model) {
  floor_seconds f;
  for (auto const& [p, times] : model.products) f.products += times * product_seconds(ex, p);
  if (model.stream > 0) f.stream = model.stream / copy_rate(ex, model.stream);
  if (model.exps > 0) f.exp = model.exps / exp_rate(ex);
  if (model.slots > 0) f.kernels = model.slots / multiply_add_rate(ex);
  return f;
}

}  // namespace bench
