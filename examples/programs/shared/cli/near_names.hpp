// Finds the names that a misspelt name may stand for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace triad::programs {

/// Returns the smallest number of edits that turn `a` into `b`.  An edit inserts, deletes or replaces a character, or
/// swaps two neighbours.  No character is edited twice (optimal string alignment).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto const replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// Returns the names with the smallest distance to `typed`, in the order of `names`.  The distance may be at most 2, or
/// at most 1 if `typed` has four characters or fewer.  If no name is so near, returns the name that begins with
/// `typed`, if there is exactly one.  Otherwise returns the longest name that `typed` begins with, if a dash follows.
inline std::vector<std::string> near_names(std::string_view typed, std::vector<std::string> const& names) {
  std::size_t least = typed.size() > 4 ? 2 : 1;
  std::vector<std::string> found;
  for (auto const& name : names) {
    auto const distance = edit_distance(typed, name);
    if (distance > least) continue;
    if (distance < least) found.clear();
    least = distance;
    found.push_back(name);
  }
  if (!found.empty()) return found;
  for (auto const& name : names)
    if (typed.size() > 1 && name.starts_with(typed)) found.push_back(name);
  if (found.size() == 1) return found;
  std::string longest;
  for (auto const& name : names)
    if (typed.starts_with(name + "-") && name.size() > longest.size()) longest = name;
  return longest.empty() ? std::vector<std::string>() : std::vector{longest};
}

}  // namespace triad::programs
