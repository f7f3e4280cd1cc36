// Converts our parameters' paths to the names in golden files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace triad::golden {

/// Replaces whole parts of a dotted path, one pair after another: {"attention.query", "linears.0"}.
struct renaming {
  std::vector<std::pair<std::string, std::string>> parts;

  std::string operator()(std::string path) const {
    for (auto const& [ours, theirs] : parts) {
      std::string const whole = "." + path + ".", wanted = "." + ours + ".";
      auto const at = whole.find(wanted);
      if (at == std::string::npos) continue;
      std::string const replaced =
          whole.substr(0, at) + (theirs.empty() ? "." : "." + theirs + ".") + whole.substr(at + wanted.size());
      path = replaced.substr(1, replaced.size() - 2);
    }
    return path;
  }
};

inline renaming operator+(renaming a, renaming const& b) {
  a.parts.insert(a.parts.end(), b.parts.begin(), b.parts.end());
  return a;
}

}  // namespace triad::golden
