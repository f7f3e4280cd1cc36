// Orders of examples, random or by a comparison, and samples of them.
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

/// The same ones in every call: `most` of the items, evenly spread; all where that is 0.
template <class Item>
std::vector<Item> sample(std::vector<Item> const& items, int most) {
  auto const n = items.size(), wanted = static_cast<std::size_t>(most);
  if (most == 0 || n <= wanted) return items;
  std::vector<Item> result;
  for (std::size_t i = 0; i < wanted; ++i) result.push_back(items[i * n / wanted]);
  return result;
}

}  // namespace triad::programs
