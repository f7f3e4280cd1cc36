// Graphs of 3, 1 and 4 nodes, with states of their edges. Some triangles are masked. If `pruned`, only three edges are
// read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/ragged.hpp"
#include "triad/layers/layer.hpp"

namespace triad::test {

struct edge_graphs {
  index_t width;
  ragged shape{{3, 1, 4}};
  std::vector<double> x;
  std::vector<std::uint8_t> masked;
  std::vector<index_t> wanted{1, 9, 20};

  explicit edge_graphs(index_t d) : width(d), x(random_values(shape.dims.rows * d, 2)) {
    random_stream random(3, 9);
    for (index_t t = 0; t < shape.dims.triangles; ++t) masked.push_back(random.uniform() < 0.3);
  }
  graph_dims const& dims() const { return shape.dims; }
  index_t rows() const { return shape.dims.rows; }
  template <index_t D = dyn>
  edge_input<double, D> input(bool masks = true, bool pruned = false) const {
    edge_input<double, D> in{tensor<double const, dyn, D>(x.data(), extents<dyn, D>(rows(), width)), shape.batch()};
    if (masks) in.mask.masked = make_vec(masked.data(), shape.dims.triangles);
    if (pruned) in.wanted = make_vec(wanted.data(), 3);
    return in;
  }
};

}  // namespace triad::test
