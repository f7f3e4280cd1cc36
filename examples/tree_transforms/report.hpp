// Scores of all splits as people read them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../apps/seed_means.hpp"
#include "../apps/table.hpp"
#include "rows.hpp"
#include "score.hpp"

namespace tree_transforms {

/// As the paper calls them.
inline std::string title_of(split s) {
  switch (s) {
    case split::ood_new:
      return "OOD lexical";
    case split::ood_long:
      return "OOD structural";
    default:
      return name_of(s);
  }
}

inline std::string percent(double part) { return fmt::format("{:.1f}", 100 * part); }

using split_tallies = std::array<tally, splits.size()>;

inline tally const& of(split_tallies const& t, split s) { return t[static_cast<std::size_t>(s)]; }

/// A machine that has not learned its training rows has failed: 90 % of them is where the paper leaves a run out.
inline bool has_failed(split_tallies const& t) { return of(t, split::train).accuracy() < 0.9; }

inline std::string table_of(split_tallies const& tallies) {
  triad::apps::text_table table({"", "whole trees", "partial", "rows"});
  for (auto const s : splits)
    if (auto const& t = of(tallies, s); t.rows > 0)
      table.row({title_of(s), percent(t.accuracy()), percent(t.partial()), std::to_string(t.rows)});
  return table.text();
}

/// What is counted of one seed's run.
struct seed_tallies {
  split_tallies found;  // without rows where it diverged
  bool diverged = false, failed = false;
};

/// Whole trees, a line a seed, and the mean of all that have a score.  The paper leaves runs that failed out of its
/// means: where there are any beside others, that mean has a line too.
inline std::string table_of(std::vector<seed_tallies> const& runs, std::uint64_t first_seed) {
  std::vector<std::string> header{"seed"};
  for (auto const s : splits) header.push_back(title_of(s));
  header.push_back("failed");
  triad::apps::text_table table(header);
  int failed = 0, learned = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto const& r = runs[i];
    std::vector<std::string> cells{std::to_string(first_seed + i)};
    for (auto const s : splits) cells.push_back(of(r.found, s).rows > 0 ? percent(of(r.found, s).accuracy()) : "-");
    cells.push_back(r.diverged ? "diverged" : r.failed ? "yes" : "no");
    (r.diverged || r.failed ? failed : learned) += 1;
    table.row(cells);
  }
  auto const mean_row = [&](char const* title, std::vector<seed_tallies> const& some, std::string const& last) {
    std::vector<std::string> cells{title};
    auto const* const one = triad::apps::first_scored(some);
    for (auto const s : splits) {
      auto const m = triad::apps::mean_over(some, [s](seed_tallies const& r) { return of(r.found, s).accuracy(); });
      cells.push_back(!one || of(one->found, s).rows == 0 ? "-" : percent(m.mean) + " ± " + percent(m.standard_error));
    }
    cells.push_back(last);
    table.row(cells);
  };
  mean_row("mean", runs, std::to_string(failed) + " of " + std::to_string(runs.size()));
  auto those = runs;
  std::erase_if(those, [](seed_tallies const& r) { return r.failed || r.diverged; });
  if (learned > 0 &&
      std::any_of(runs.begin(), runs.end(), [](seed_tallies const& r) { return r.failed && !r.diverged; }))
    mean_row("mean of those that learned", those, "as the paper's");
  return table.text() + triad::apps::whose_mean(runs, first_seed) + "\n";
}

}  // namespace tree_transforms
