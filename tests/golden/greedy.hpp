// Chooses a token by greedy search in each step, and finds the smallest margin between the best and the second best
// token.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "report.hpp"

namespace triad::golden {

class greedy_choices {
 public:
  /// Returns the likeliest of `count` tokens, whose logits begin at `first`. If several tokens are equally likely,
  /// returns the smallest. `never` is a token that must not be chosen, or -1.
  index_t choose(std::vector<double> const& logits, std::size_t first, index_t count, index_t never = -1) {
    std::vector<std::pair<double, index_t>> row;
    for (index_t c = 0; c < count; ++c)
      if (c != never) row.emplace_back(logits[first + static_cast<std::size_t>(c)], -c);
    std::sort(row.rbegin(), row.rend());
    margin_ = std::min(margin_, row[0].first - row[1].first);
    for (auto const& [logit, token] : row) largest_ = std::max(largest_, std::abs(logit));
    return -row[0].second;
  }
  /// Compares the smallest margin between the two best tokens. A margin is a difference, so its error is relative to
  /// the largest logit.
  void compare_margin(report& r, std::string const& label) const {
    r.difference("greedy_min_margin", margin_, largest_, label);
  }

 private:
  double margin_ = std::numeric_limits<double>::infinity(), largest_ = 0;
};

}  // namespace triad::golden
