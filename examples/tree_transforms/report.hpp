// Scores of all splits as people read them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/table.hpp"
#include "rows.hpp"
#include "score.hpp"
#include "triad/train/metrics.hpp"

namespace tree_transforms {

/// As the paper calls them.
inline std::string title_of(split s) {
  switch (s) {
    case split::ood_new: return "OOD lexical";
    case split::ood_long: return "OOD structural";
    default: return name_of(s);
  }
}

inline std::string percent(double part) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", 100 * part);
  return text;
}

using split_tallies = std::array<tally, splits.size()>;

inline tally const& of(split_tallies const& t, split s) { return t[static_cast<std::size_t>(s)]; }

/// A machine that has not learned its training rows has failed: 90 % of them is where the paper leaves a run out.
inline bool has_failed(split_tallies const& t) { return of(t, split::train).accuracy() < 0.9; }

inline std::string table_of(split_tallies const& tallies) {
  triad::examples::text_table table({"", "whole trees", "partial", "rows"});
  for (auto const s : splits)
    if (auto const& t = of(tallies, s); t.rows > 0) table.row({title_of(s), percent(t.accuracy()), percent(t.partial()), std::to_string(t.rows)});
  return table.text();
}

/// Whole trees, a line a seed, and the mean of all; failed runs are counted, not left out.
inline std::string table_of(std::vector<split_tallies> const& runs, std::uint64_t first_seed) {
  std::vector<std::string> header{"seed"};
  for (auto const s : splits) header.push_back(title_of(s));
  header.push_back("failed");
  triad::examples::text_table table(header);
  int failed = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> cells{std::to_string(first_seed + i)};
    for (auto const s : splits) cells.push_back(of(runs[i], s).rows > 0 ? percent(of(runs[i], s).accuracy()) : "-");
    cells.push_back(has_failed(runs[i]) ? "yes" : "no");
    failed += has_failed(runs[i]) ? 1 : 0;
    table.row(cells);
  }
  std::vector<std::string> mean{"mean"};
  for (auto const s : splits) {
    if (runs.empty() || of(runs.front(), s).rows == 0) {
      mean.push_back("-");
      continue;
    }
    std::vector<double> all;
    for (auto const& r : runs) all.push_back(of(r, s).accuracy());
    auto const m = triad::mean_of(all);
    mean.push_back(percent(m.mean) + " ± " + percent(m.standard_error));
  }
  mean.push_back(std::to_string(failed) + " of " + std::to_string(runs.size()));
  table.row(mean);
  return table.text();
}

}  // namespace tree_transforms
