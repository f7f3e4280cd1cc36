// Makes tables of the scores of all parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "score.hpp"
#include "shared/report/table.hpp"
#include "shared/run/seed_means.hpp"

namespace triad::programs::trees {

/// Returns a line about the rows that are left out of a part.  Returns an empty text if no rows are left out.
inline std::string what_is_left_out(part const& p) {
  if (p.skipped == 0) return {};
  return fmt::format("{}: rows with deeper trees are left out, {} (--skip-deeper)\n", p.name, p.skipped);
}

inline std::string percent(double part) { return fmt::format("{:.1f}", 100 * part); }

/// The scores of one part.
struct part_tally {
  std::string title;
  tally found{};  // without rows if the part has none or was not scored
};
/// The parts in the order of the data, the training rows first.
using part_tallies = std::vector<part_tally>;

inline part_tallies tallies_of(data_set const& data) {
  part_tallies all;
  for (auto const& p : data.parts) all.push_back({p.title});
  return all;
}

/// Returns whether a machine has failed: fewer than 90 % of its training rows are right.  The paper does not report
/// such runs.
inline bool has_failed(part_tallies const& t) { return t.front().found.accuracy() < 0.9; }

inline std::string table_of(part_tallies const& tallies) {
  text_table table({"", "whole trees", "partial", "rows"});
  for (auto const& [title, t] : tallies)
    if (t.rows > 0) table.row({title, percent(t.accuracy()), percent(t.partial()), std::to_string(t.rows)});
  return table.text();
}

/// The scores of one seed's run.
struct seed_tallies {
  part_tallies found;  // without rows if the run diverged
  bool diverged = false, failed = false;
};

/// Returns a table of the scores of whole trees.  It has a line for each seed, and the mean over all seeds that have a
/// score.  The means of the paper do not include failed runs.  So if only some runs failed, the last line has the mean
/// over the runs that did not fail.
inline std::string table_of(std::vector<seed_tallies> const& runs, std::uint64_t first_seed) {
  std::vector<std::string> header{"seed"};
  for (auto const& part : runs.front().found) header.push_back(part.title);
  header.push_back("failed");
  text_table table(header);
  int failed = 0, learned = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto const& r = runs[i];
    std::vector<std::string> cells{std::to_string(first_seed + i)};
    for (auto const& [title, t] : r.found) cells.push_back(t.rows > 0 ? percent(t.accuracy()) : "-");
    cells.push_back(r.diverged ? "diverged" : r.failed ? "yes" : "no");
    (r.diverged || r.failed ? failed : learned) += 1;
    table.row(cells);
  }
  auto const mean_row = [&](char const* title, std::vector<seed_tallies> const& some, std::string const& last) {
    std::vector<std::string> cells{title};
    auto const* const one = first_scored(some);
    for (std::size_t p = 0; p < runs.front().found.size(); ++p) {
      auto const m = mean_over(some, [p](seed_tallies const& r) { return r.found[p].found.accuracy(); });
      cells.push_back(!one || one->found[p].found.rows == 0 ? "-"
                                                            : percent(m.mean) + " ± " + percent(m.standard_error));
    }
    cells.push_back(last);
    table.row(cells);
  };
  mean_row("mean", runs, std::to_string(failed) + " of " + std::to_string(runs.size()));
  auto those = runs;
  std::erase_if(those, [](seed_tallies const& r) { return r.failed || r.diverged; });
  if (learned > 0 &&
      std::any_of(runs.begin(), runs.end(), [](seed_tallies const& r) { return r.failed && !r.diverged; }))
    mean_row("mean of those that learned", those, "left out, as in the paper");
  return table.text() + whose_mean(runs, first_seed) + "\n";
}

}  // namespace triad::programs::trees
