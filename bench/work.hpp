// Code that benchmarks share: shapes, results of checks, and the counted work of a layer.  floor.hpp explains how the
// counts are used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/mdspan.hpp"
#include "triad/ops/triangle.hpp"

namespace bench {

using triad::index_t;

/// B graphs of n nodes, with width d and h heads.  If `sources` is not negative, the graphs are causal, and each graph
/// has this number of sources.
struct shape {
  index_t b, n, d, h, sources = -1;
  index_t rows() const { return b * n * n; }
  std::string name() const {
    return "b:" + std::to_string(b) + "/n:" + std::to_string(n) + "/d:" + std::to_string(d) +
           "/h:" + std::to_string(h) + (sources < 0 ? "" : "/sources:" + std::to_string(sources));
  }
  /// Returns the fraction of the n^3 triples (i, l, j) in which l is a middle node of (i, j).
  double share_of_triples() const {
    index_t sum = 0;
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) sum += sources < 0 ? n : triad::causal_end(sources, n, i, j);
    return static_cast<double>(sum) / static_cast<double>(n * n * n);
  }
};

/// The outcome of a check: nothing if the result is right, otherwise a description of the error.
using verdict = std::optional<std::string>;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One product, as in a call of BLAS: c (m, n) = op(a) op(b) with inner extent k.
struct product {
  index_t m, n, k;
  bool transpose_a, transpose_b;
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
  friend bool operator==(product const&, product const&) = default;
};

/// The type of the factors of the products with weights.  Sums, and all work other than these products, are float32.
enum class factor_type { float32, bf16 };

/// The numbers of operations in some work.
struct work_model {
  factor_type factors = factor_type::float32;
  std::vector<std::pair<product, double>> products;  // each product with the number of times that it occurs
  double slots = 0, exps = 0, stream = 0;            // multiply-adds, exponentials, bytes
  double kernel_flops = 0;                           // flops of operations other than products with a weight

  /// Counts `times` products of `rows` rows with a weight (out, in).  If `train`, also counts the products of both
  /// gradients.
  void linear(index_t rows, index_t in, index_t out, bool train, double times = 1) {
    add({rows, out, in, false, true}, times);              // y = x w'
    if (train) add({rows, in, out, false, false}, times);  // dx = dy w
    if (train) add({out, in, rows, true, false}, times);   // dw = dy' x
  }

  /// Counts the triangle operation on `b` graphs of n nodes, `times` times.  `share` is the fraction of the triples
  /// that is computed.
  void triangle(triad::triangle_form form, index_t b, index_t n, index_t d, index_t h, bool train, double times = 1,
                double share = 1) {
    bool const right = triad::uses_right_value(form);
    double const graphs = static_cast<double>(b) * times, cube = static_cast<double>(n * n * n) * share,
                 width = static_cast<double>(d);
    slots += graphs * cube * width * ((right ? 3 : 2) + (train ? (right ? 8 : 5) : 0));
    kernel_flops +=
        // A multiply-add is two flops, and a product without a sum is one.
        graphs * cube * width * ((right ? 5 : 4) + (train ? (right ? 14 : 10) : 0));
    exps += graphs * cube * static_cast<double>(h) * (train ? 2 : 1);

    double const array = 4.0 * static_cast<double>(n * n * d), statistics = 8.0 * static_cast<double>(n * n * h),
                 inputs = right ? 4 : 3;
    if (2 * (inputs + 1) * array > second_level_cache())
      stream += graphs * ((inputs + 1) * array + (train ? (2 * inputs + 2) * array + 2 * statistics : 0));
    else if (train && 2 * (inputs + 1) * array * static_cast<double>(b) > second_level_cache())
      stream += graphs * (inputs * array + 2 * statistics);
  }

  /// Counts the projections of triangular attention.  The output projection is computed at `reads` edges, or at all
  /// edges if `reads` is 0.
  void projections(triad::triangle_form form, index_t rows, index_t d, bool train, double times = 1,
                   index_t reads = 0) {
    linear(rows, d, (triad::uses_right_value(form) ? 4 : 3) * d, train, times);
    linear(reads > 0 ? reads : rows, d, d, train, times);
  }
  void feed_forward(index_t rows, index_t in, index_t hidden, index_t out, bool train, double times = 1) {
    linear(rows, in, hidden, train, times);
    linear(rows, hidden, out, train, times);
  }

  /// Counts attention without projections.  There are `rows` queries and the same number of keys.  `pairs` is the
  /// number of pairs of a query and a key that the query attends to.
  void attention(index_t rows, double pairs, index_t d, index_t h, bool train) {
    multiply_adds(pairs * static_cast<double>(d) * (train ? 7 : 2));
    exps += pairs * static_cast<double>(h) * (train ? 2 : 1);
    arrays(static_cast<double>(rows * d) * (train ? 12 : 4));
  }
  /// Counts fuse-attention without projections.  `rows` tokens attend to the states of `layers` layers.
  void fuse_attention(index_t rows, index_t layers, index_t d, index_t h, bool train) {
    auto const terms = static_cast<double>(rows * layers * h);
    multiply_adds(terms * static_cast<double>(d) * (train ? 6 : 2));
    exps += terms;
    arrays(static_cast<double>(rows * d * (train ? 4 * layers + 5 * h : layers + 2 * h)));
  }

  /// Counts a Transformer layer, except for the attention between tokens.
  void transformer_layer(index_t rows, index_t d, index_t hidden, bool train, double times = 1) {
    linear(rows, d, 3 * d, train, times);  // query, key, value
    linear(rows, d, d, train, times);
    feed_forward(rows, d, hidden, d, train, times);
  }

  /// Adds a product that occurs `times` times.
  void add(product const& p, double times) {
    auto const same =
        std::find_if(products.begin(), products.end(), [&](auto const& known) { return known.first == p; });
    if (same != products.end())
      same->second += times;
    else
      products.emplace_back(p, times);
  }

  /// Counts `count` multiply-adds of a kernel.
  void multiply_adds(double count) { slots += count, kernel_flops += 2 * count; }
  /// Counts floats that are read or written once.  If they fit into the second-level cache, counts nothing.
  void arrays(double floats) { stream += 4 * floats > second_level_cache() ? 4 * floats : 0; }

  double product_flops() const {
    double sum = 0;
    for (auto const& [p, times] : products) sum += p.flops() * times;
    return sum;
  }
  double flops() const { return product_flops() + kernel_flops; }

 private:
  /// Returns the size of the processor's second-level cache.  Memory traffic of a GPU is not counted.
  static double second_level_cache() {
    auto const bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? static_cast<double>(bytes) : 1e6;
  }
};

}  // namespace bench
