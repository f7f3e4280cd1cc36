// The floor of some work: the least time that this machine needs for it if it does one thing at a time.  The floor is
// computed from rates that are measured just before the work is timed.
// SPDX-License-Identifier: Apache-2.0
//
//   floor = products + kernels + exp + stream
//
//   products   the time of the multiply-adds of every matrix product with a weight, at the machine's rate: the rate of
//              multiply-adds in registers, on all threads of the benchmark.  If the factors are bf16, the rate is that
//              of the fastest bf16 instructions.  Memory traffic, bias, activation and dropout are not included.
//   kernels    the time of all other multiply-adds, at the float32 rate of multiply-adds in registers.  They are
//              counted for the triangle, n^3 d for each graph times
//                forward  3 = score 1, output 2                          (value ablation 2: output 1)
//                backward 8 = score again 1, dp 2, dv1 and dv2 3, dq 1, dk 1   (value ablation 5: dp 1, dv1 1)
//              attention, d for each pair of query and key times
//                forward  2 = score 1, output 1
//                backward 5 = score again 1, dp 1, dq, dk and dv 3
//              fuse-attention, h d for each token and layer below times
//                forward  2 = score 1, mixed states 1
//                backward 4 = dp 1, du 1, dx 2
//   exp        the time of the exponentials, at the rate of a vector exp in L1.  There is one for each head of each
//              triple, of each pair, or of each token and layer.  If backward recomputes the weights, it has the same
//              number again.
//   stream     the time to move the bytes of the triangle's arrays that cannot stay in cache, at the speed of a copy of
//              the same number of bytes.  A graph is small if its ten arrays fit in the second-level cache of one core.
//              Projections and triangle of small graphs can run graph by graph, so only the arrays that are saved for
//              backward (q, k, v1, v2, softmax statistics) are read from memory again.  If the whole batch fits in the
//              cache, no array is.  For larger graphs, every input and output of the triangle counts once: 5 arrays of
//              (rows, d) forward, 10 backward.  For attention and fuse-attention, which are timed alone, every input
//              and output counts once, unless all of them fit in the cache.
//
// The floor of a training step of a Transformer consists only of the products with weights; attention and
// fuse-attention are not counted.  No floor counts norms, dropout, embedding, loss, clipping, Adam and packing.
//
// The sum assumes that nothing overlaps.  Products, kernels and exponentials use the same vector units, so their times
// add up, except that the tiles of AMX are separate units.  But a program can move data while it computes.  So the
// strict bound is the larger of two times: stream, and the sum of the other three.  The difference matters only where
// stream is a large part of the floor.
//
// The time of the products at the speed of BLAS is measured next to the floor.  BLAS computes the same shapes in
// float32, on arrays of their real sizes.
#pragma once

#include "probe.hpp"
#include "work.hpp"

namespace bench {

/// The seconds of each part of the floor.  `blas` is the time of the products at the speed of BLAS, and not a part.
struct floor_seconds {
  double products = 0, kernels = 0, exp = 0, stream = 0, blas = 0;
  double total() const { return products + kernels + exp + stream; }
  /// Returns the floor with the products at the speed of BLAS.
  double with_blas() const { return blas + kernels + exp + stream; }
};

inline floor_seconds measure_floor(triad::cpu::backend& ex, work_model const& model) {
  floor_seconds f;
  for (auto const& [p, times] : model.products) f.blas += times * product_seconds(ex, p);
  if (!model.products.empty()) f.products = model.product_flops() / 2 / multiply_add_rate(ex, model.factors);
  if (model.stream > 0) f.stream = model.stream / copy_rate(ex, model.stream);
  if (model.exps > 0) f.exp = model.exps / exp_rate(ex);
  if (model.slots > 0) f.kernels = model.slots / multiply_add_rate(ex, factor_type::float32);
  return f;
}

}  // namespace bench
