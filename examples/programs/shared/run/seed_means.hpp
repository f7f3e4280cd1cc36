// The mean over the runs of one setting, with the same rule in all programs for the runs that count.
// SPDX-License-Identifier: Apache-2.0
//
// A run that reached its end is in the mean, even if it has not learned its task, since this is a result too. A run
// whose loss was not finite has no score. It is in no mean, and its seed is listed next to the mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "triad/train/metrics.hpp"

namespace triad::programs {

/// runs: each with `diverged`.  The first run that has a score; none where none has.
template <class Run>
Run const* first_scored(std::vector<Run> const& runs) {
  for (auto const& r : runs)
    if (!r.diverged) return &r;
  return nullptr;
}

/// figure(run), of those that have a score.
template <class Run, class Figure>
mean_and_error mean_over(std::vector<Run> const& runs, Figure const& figure) {
  std::vector<double> figures;
  for (auto const& r : runs)
    if (!r.diverged) figures.push_back(figure(r));
  return mean_of(figures);
}

namespace detail {

/// "seed 3", "seeds 1 and 3", "seeds 1, 2 and 5".
inline std::string named_seeds(std::vector<std::uint64_t> const& seeds) {
  std::string text = seeds.size() == 1 ? "seed " : "seeds ";
  for (std::size_t i = 0; i < seeds.size(); ++i)
    text += (i == 0 ? "" : i + 1 == seeds.size() ? " and " : ", ") + std::to_string(seeds[i]);
  return text;
}

}  // namespace detail

/// Whose mean it is: "mean of 5 seeds", or "mean of 4 of 5 seeds; seed 3 diverged; seeds 1 and 2 did not learn and are
/// in it".  runs: each with `diverged` and `failed`, of seeds first_seed, first_seed + 1, ...
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
