// Orders of examples: random ones, and by what comes before what.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "triad/core/random.hpp"

namespace triad::programs {

/// order becomes one of 0 .. order.size() - 1, the same for a seed and stream on every machine.
inline void permute(std::vector<std::size_t>& order, std::uint64_t seed, std::uint64_t stream) {
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_stream(seed, stream).shuffle(order);
}

/// 0 .. count - 1, those first that are before(a, b) others; equal ones as they were.
template <class Before>
std::vector<std::size_t> order_by(std::size_t count, Before const& before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace triad::programs
