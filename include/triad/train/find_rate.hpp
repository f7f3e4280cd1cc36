// Finds a learning rate: updates at growing rates, and a tenth of the rate where the loss was lowest.
// SPDX-License-Identifier: Apache-2.0
//
//   rate_k = lowest (highest / lowest)^(k / (n - 1)),  k < n
//   l_k    = a mean of the losses up to k, of which each older one counts 0.9 times as much
//   found  = rate_k / 10 for the k whose l_k is lowest, of those before l_k is 4 times the lowest so far
//
// At the lowest loss the rate is about to be too large; a tenth of it leaves room, and the loss still falls fast.
// After Smith 2017, "Cyclical learning rates for training neural networks", section 3.3.  The trainer is put back to
// where it was.
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

/// Rates grow from the lowest to the highest by the same factor in each update.
struct find_rate_options {
  double lowest = 1e-6, highest = 1;
  std::uint64_t updates = 100;
};

struct rate_search {
  double rate = 0;  // to begin with
  struct point {
    double rate, loss;  // the smoothed one
  };
  std::vector<point> points;  // what was tried; it stops where the loss rises for good
};

/// train(epoch) gives batches as for fit(), for as many epochs as the updates need.  Waits for each update.  Throws
/// training_failure where the loss falls at no rate, or where a weight is not finite at the beginning.
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
