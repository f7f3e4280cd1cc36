// A smaller part of a list.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace triad::programs {

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
