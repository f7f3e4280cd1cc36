// Shuffled batches with the sizes of CLUTRR and COGS. The data say how many samples have each number of nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "triad/core/random.hpp"

namespace triad::test {

struct ragged_data {
  std::vector<index_t> nodes;  // the number of nodes in each sample
  index_t batch;
};

/// Returns samples of which counts[n] have n nodes, for n = 0, 1, 2, ...
inline ragged_data samples_of(std::vector<index_t> const& counts, index_t batch) {
  ragged_data d{{}, batch};
  for (index_t n = 0; n < std::ssize(counts); ++n)
    d.nodes.insert(d.nodes.end(), static_cast<std::size_t>(counts[static_cast<std::size_t>(n)]), n);
  return d;
}
/// Four fifths of the published chains with 2, 3 and 4 facts, in batches of the paper's size.
inline ragged_data like_clutrr() { return samples_of({0, 0, 0, 4050, 4355, 3661}, 400); }
/// The published training sentences, counted by their number of tokens, in batches of the paper's size.
inline ragged_data like_cogs() {
  return samples_of(
      {0, 143, 0, 790, 1823, 3655, 2123, 3522, 4697, 2464, 1865, 1448, 895, 363, 184, 100, 49, 19, 10, 2, 2, 0, 1},
      100);
}

/// Calls f(sizes) for each batch of an epoch. Each epoch has a new order.
template <class F>
void each_batch(ragged_data const& d, std::uint64_t epoch, F&& f) {
  auto order = d.nodes;
  random_stream(5, epoch).shuffle(order);
  for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(d.batch))
    f(std::vector<index_t>(order.begin() + static_cast<std::ptrdiff_t>(first),
                           order.begin() + static_cast<std::ptrdiff_t>(
                                               std::min(order.size(), first + static_cast<std::size_t>(d.batch)))));
}

}  // namespace triad::test
