// States of the tokens of three sequences, of 4, 1 and 5 tokens. If `masked`, the last token but one is masked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/ragged.hpp"
#include "triad/layers/attention.hpp"

namespace triad::test {

struct sentences {
  index_t width;
  ragged graphs{{4, 1, 5}};
  index_t rows = graphs.dims.nodes;
  std::vector<double> x;
  std::vector<std::uint8_t> masked = std::vector<std::uint8_t>(static_cast<std::size_t>(rows));

  explicit sentences(index_t d) : width(d), x(random_values(rows * d, 1)) { masked[8] = 1; }
  template <index_t D = dyn>
  sequence_input<double, D> input(bool mask = false) const {
    sequence_input<double, D> in{tensor<double const, dyn, D>(x.data(), extents<dyn, D>(rows, width)),
                                 nodes_of(graphs.batch())};
    if (mask) in.masked = make_vec<std::uint8_t const>(masked.data(), rows);
    return in;
  }
};

}  // namespace triad::test
