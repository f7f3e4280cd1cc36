// Converts scores to probabilities:  p(c) = exp(x_c) / sum over c' of exp(x_c')
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace triad::programs {

/// Returns the softmax of one row of scores, computed in double.  The largest score is subtracted first.
inline std::vector<double> probabilities_of(std::span<float const> scores) {
  std::vector<double> all;
  if (scores.empty()) return all;
  double const most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (float const x : scores) sum += all.emplace_back(std::exp(static_cast<double>(x) - most));
  for (double& p : all) p /= sum;
  return all;
}

}  // namespace triad::programs
