// The items of a list on a command line, such as a,b,c.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace triad::programs {

/// Returns the items of a list, which are separated by commas.  An item may be empty.
inline std::vector<std::string> list_items(std::string const& list) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    auto const end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

}  // namespace triad::programs
