// Shuffles, sorts and samples examples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "triad/core/random.hpp"

namespace triad::programs {

/// Sets `order` to a random permutation of 0 .. order.size() - 1.  The permutation depends only on seed and stream, and
/// is the same on every machine.
inline void permute(std::vector<std::size_t>& order, std::uint64_t seed, std::uint64_t stream) {
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_stream(seed, stream).shuffle(order);
}

/// Returns 0 .. count - 1, sorted by before(a, b).  The sort is stable.
template <class Before>
std::vector<std::size_t> order_by(std::size_t count, Before const& before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

/// Returns `most` evenly spaced items, the same in every call.  If `most` is 0, returns all items.
template <class Item>
std::vector<Item> sample(std::vector<Item> const& items, int most) {
  auto const n = items.size(), wanted = static_cast<std::size_t>(most);
  if (most == 0 || n <= wanted) return items;
  std::vector<Item> result;
  for (std::size_t i = 0; i < wanted; ++i) result.push_back(items[i * n / wanted]);
  return result;
}

}  // namespace triad::programs
