// Means over the runs of one command. All programs have the same rule about which runs count.
// SPDX-License-Identifier: Apache-2.0
//
// A run that reached its end counts, even if it has not learned its task. A run whose loss was not finite has no score
// and does not count. The seed of such a run is printed next to the mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "triad/train/metrics.hpp"

namespace triad::programs {

/// Returns the first run that has a score, or null if there is none.  Each element of `runs` must have the member
/// `diverged`.
template <class Run>
Run const* first_scored(std::vector<Run> const& runs) {
  for (auto const& r : runs)
    if (!r.diverged) return &r;
  return nullptr;
}

/// Returns the mean of figure(run) over the runs that have a score.
template <class Run, class Figure>
mean_and_error mean_over(std::vector<Run> const& runs, Figure const& figure) {
  std::vector<double> figures;
  for (auto const& r : runs)
    if (!r.diverged) figures.push_back(figure(r));
  return mean_of(figures);
}

namespace detail {

/// Returns a text such as "seed 3", "seeds 1 and 3" or "seeds 1, 2 and 5".
inline std::string named_seeds(std::vector<std::uint64_t> const& seeds) {
  std::string text = seeds.size() == 1 ? "seed " : "seeds ";
  for (std::size_t i = 0; i < seeds.size(); ++i)
    text += (i == 0 ? "" : i + 1 == seeds.size() ? " and " : ", ") + std::to_string(seeds[i]);
  return text;
}

}  // namespace detail

/// Describes the runs in a mean, as in "mean of 5 seeds" or "mean of 4 of 5 seeds; seed 3 diverged; seeds 1 and 2 did
/// not learn and are in it".  Each element of `runs` must have the members `diverged` and `failed`.  The seeds of the
/// runs are first_seed, first_seed + 1, ...
template <class Run>
std::string whose_mean(std::vector<Run> const& runs, std::uint64_t first_seed) {
  std::vector<std::uint64_t> diverged, unlearned;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].diverged || runs[i].failed) (runs[i].diverged ? diverged : unlearned).push_back(first_seed + i);
  auto text = "mean of " + (diverged.empty() ? "" : std::to_string(runs.size() - diverged.size()) + " of ") +
              std::to_string(runs.size()) + " seeds";
  if (!diverged.empty()) text += "; " + detail::named_seeds(diverged) + " diverged";
  if (!unlearned.empty())
    text += "; " + detail::named_seeds(unlearned) + " did not learn and " + (unlearned.size() == 1 ? "is" : "are") +
            " in it";
  return text;
}

}  // namespace triad::programs
