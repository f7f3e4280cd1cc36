// Finds a learning rate: makes updates at growing rates, and returns a tenth of the rate at which the loss was lowest.
// SPDX-License-Identifier: Apache-2.0
//
//   rate_k = lowest (highest / lowest)^(k / (n - 1)),  k < n
//   l_k    = a weighted mean of the losses of updates 0 .. k; the loss of update j has the weight 0.9^(k - j)
//   found  = rate_k / 10 for the k with the lowest l_k; the search ends when l_k exceeds 4 times the lowest l so far
//
// The rate with the lowest loss is almost too large.  With a tenth of this rate, training is safe and the loss still
// decreases fast.  The method is from Smith 2017, "Cyclical learning rates for training neural networks", section 3.3.
// After the search, the trainer has the state that it had before the search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "triad/core/finite.hpp"
#include "triad/train/fit.hpp"

namespace triad {

/// Options of find_rate().  The rate grows from `lowest` to `highest` by a constant factor for each update.
struct find_rate_options {
  double lowest = 1e-6, highest = 1;
  std::uint64_t updates = 100;
};

struct rate_search {
  double rate = 0;  // the learning rate to begin training with
  struct point {
    double rate, loss;  // loss: the smoothed loss l_k
  };
  std::vector<point> points;  // all rates that the search tried, in order
};

/// Searches for a learning rate.  train(epoch) returns the batches of an epoch, as for fit().  The search takes as many
/// epochs as the updates need.  Waits for each update.  Throws training_failure if the loss decreases at no rate, or if
/// a weight is not finite before the search.
template <class Learner, class Train>
rate_search find_rate(Learner& learner, Train&& train, find_rate_options const& o = {}) {
  TRIAD_EXPECTS(o.lowest > 0 && o.highest > o.lowest && is_finite(o.highest),
                "find_rate: lowest is " + std::to_string(o.lowest) + " and highest is " + std::to_string(o.highest) +
                    ", expected 0 < lowest < highest, both finite");
  TRIAD_EXPECTS(o.updates >= 10, "find_rate: updates are " + std::to_string(o.updates) + ", expected 10 or more");
  constexpr double old = 0.9, hopeless = 4;
  expect_finite_weights(learner, "find_rate: before its first update");
  auto const before = learner.snapshot();
  rate_search found;
  double mean = 0, weight = 1, least = std::numeric_limits<double>::max();
  auto const rate_at = [&](std::size_t k) {
    return o.lowest * std::pow(o.highest / o.lowest, static_cast<double>(k) / static_cast<double>(o.updates - 1));
  };
  bool over = false;
  auto const search_epoch = [&](std::uint64_t epoch) {
    bool any = false;
    for (auto const& [in, targets] : train(epoch)) {
      any = true;
      auto const k = found.points.size();
      learner.update(in, targets, rate_at(k));
      auto const loss = static_cast<double>(learner.loss());
      weight *= old;
      mean = old * mean + (1 - old) * loss;
      double const smooth = mean / (1 - weight);
      over = !is_finite(smooth) || smooth / hopeless > least;
      if (!over) {
        least = std::min(least, smooth);
        found.points.push_back({rate_at(k), smooth});
        over = found.points.size() == o.updates;
      }
      if (over) break;
    }
    if (!any)
      throw training_failure("find_rate: epoch " + std::to_string(epoch) +
                             " has no batches; train(epoch) gives a range of them");
    return over;
  };
  try {
    for (std::uint64_t epoch = 0; !search_epoch(epoch);) ++epoch;
  } catch (...) {
    learner.restore(before);
    throw;
  }
  learner.restore(before);

  auto const best = std::min_element(found.points.begin(), found.points.end(),
                                     [](auto const& a, auto const& b) { return a.loss < b.loss; });
  if (best == found.points.begin() || best == found.points.end())
    throw training_failure("find_rate: the loss fell at no rate from " + number_text(o.lowest) + " to " +
                           number_text(o.highest) + " in " + std::to_string(found.points.size()) +
                           " updates; try other rates, or look at the data");
  found.rate = best->rate / 10;
  return found;
}

}  // namespace triad
