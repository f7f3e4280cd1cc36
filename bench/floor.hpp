// The least time that a piece of work can take on this machine, from rates measured just before it is timed.
// SPDX-License-Identifier: Apache-2.0
//
//   floor = products + triangle + exp + stream
//
//   products   every matrix product with a weight, at the speed BLAS has for exactly that shape (arrays of the real size, so their
//              own traffic is in it; no bias, activation or dropout)
//   triangle   n^3 d multiply-add slots a graph, at the rate of multiply-adds that touch no memory:
//                forward  3 = score 1, output 2                          (value ablation 2: output 1)
//                backward 8 = score again 1, dp 2, dv1 and dv2 3, dq 1, dk 1   (value ablation 5: dp 1, dv1 1)
//   exp        h n^3 a graph forward, and again backward where the weights are made anew, at the rate of a vector exp in L1
//   stream     bytes of the triangle's arrays that cannot stay in cache, at the speed of a copy of that many bytes.  Where all ten
//              arrays of a graph fit in one core's second-level cache, projections and triangle can run graph by graph, and only what
//              was saved for backward (q, k, v1, v2, softmax statistics) comes from memory a second time; nothing where the whole
//              batch fits.  Larger graphs: every input and output of the triangle once, forward 5 arrays of (rows, d), backward 10.
//
// Not in it, so that the floor stays below what can be reached: norms, dropout, embedding, loss, clipping, Adam, packing.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "probe.hpp"
#include "triad/ops/triangle.hpp"

namespace bench {

/// What has to be done, counted.
struct work_model {
  std::vector<std::pair<product, double>> products;  // and how often
  double slots = 0, exps = 0, stream = 0;            // multiply-adds, exponentials, bytes
  double triangle_flops = 0;

  /// times products with a weight (out, in) over `rows` rows: forward, and both gradients where `train`.
  void linear(index_t rows, index_t in, index_t out, bool train, double times = 1) {
    add({rows, out, in, false, true}, times);                 // y = x w'
    if (train) add({rows, in, out, false, false}, times);     // dx = dy w
    if (train) add({out, in, rows, true, false}, times);      // dw = dy' x
  }

  /// The triangle of `b` graphs of n nodes, `times` times.
  void triangle(triad::triangle_form form, index_t b, index_t n, index_t d, index_t h, bool train, double times = 1) {
    bool const right = triad::uses_right_value(form);
    double const graphs = static_cast<double>(b) * times, cube = static_cast<double>(n * n * n), width = static_cast<double>(d);
    slots += graphs * cube * width * ((right ? 3 : 2) + (train ? (right ? 8 : 5) : 0));
    triangle_flops += graphs * cube * width * ((right ? 5 : 4) + (train ? (right ? 14 : 10) : 0));  // a product alone is one
    exps += graphs * cube * static_cast<double>(h) * (train ? 2 : 1);

    double const array = 4.0 * static_cast<double>(n * n * d), statistics = 8.0 * static_cast<double>(n * n * h), inputs = right ? 4 : 3;
    if (2 * (inputs + 1) * array > second_level_cache())
      stream += graphs * ((inputs + 1) * array + (train ? (2 * inputs + 2) * array + 2 * statistics : 0));
    else if (train && 2 * (inputs + 1) * array * static_cast<double>(b) > second_level_cache())
      stream += graphs * (inputs * array + 2 * statistics);
  }

  /// The projections of triangular attention; its output at `reads` edges, 0: all.
  void projections(triad::triangle_form form, index_t rows, index_t d, bool train, double times = 1, index_t reads = 0) {
    linear(rows, d, (triad::uses_right_value(form) ? 4 : 3) * d, train, times);
    linear(reads > 0 ? reads : rows, d, d, train, times);
  }
  void feed_forward(index_t rows, index_t in, index_t hidden, index_t out, bool train, double times = 1) {
    linear(rows, in, hidden, train, times);
    linear(rows, hidden, out, train, times);
  }

  double flops() const {
    double sum = triangle_flops;
    for (auto const& [p, times] : products) sum += p.flops() * times;
    return sum;
  }

 private:
  void add(product const& p, double times) {
    auto const same = std::find_if(products.begin(), products.end(), [&](auto const& known) { return known.first == p; });
    if (same != products.end())
      same->second += times;
    else
      products.emplace_back(p, times);
  }
  static double second_level_cache() {
    auto const bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? static_cast<double>(bytes) : 1e6;
  }
};

/// Seconds of each part.
struct floor_seconds {
  double products = 0, triangle = 0, exp = 0, stream = 0;
  double total() const { return products + triangle + exp + stream; }
};

inline floor_seconds measure_floor(triad::cpu::backend& ex, work_model const& model) {
  floor_seconds f;
  for (auto const& [p, times] : model.products) f.products += times * product_seconds(ex, p);
  if (model.stream > 0) f.stream = model.stream / copy_rate(ex, model.stream);
  if (model.exps > 0) f.exp = model.exps / exp_rate(ex);
  if (model.slots > 0) f.triangle = model.slots / multiply_add_rate(ex);
  return f;
}

}  // namespace bench
