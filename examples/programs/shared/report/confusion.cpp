// SPDX-License-Identifier: Apache-2.0
#include "confusion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/data/csv.hpp"
#include "table.hpp"

namespace triad::programs {

void confusion::add(std::string const& part, std::string const& target, std::string const& predicted) {
  if (parts_.empty() || parts_.back().first != part) parts_.emplace_back(part, counts());
  ++parts_.back().second[{target, predicted}];
}

std::string confusion::table(std::size_t most) const {
  counts wrong;
  std::map<std::string, long long> asked;  // the number of examples with each target
  for (auto const& [part, pairs] : parts_)
    for (auto const& [pair, times] : pairs) {
      asked[pair.first] += times;
      if (pair.first != pair.second) wrong[pair] += times;
    }
  if (wrong.empty()) return "no label was taken for another\n";
  std::vector<std::pair<std::pair<std::string, std::string>, long long>> sorted(wrong.begin(), wrong.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) { return a.second > b.second; });
  text_table table({"target", "predicted", "count", "of"});
  long long left = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    auto const& [pair, times] = sorted[i];
    if (i < most)
      table.row({pair.first, pair.second, std::to_string(times), std::to_string(asked[pair.first])});
    else
      left += times;
  }
  auto text = table.text();
  if (sorted.size() > most) text += fmt::format("and {} other pairs, {} times in all\n", sorted.size() - most, left);
  return text;
}

std::string confusion::csv() const {
  std::string all = "part,target,predicted,count\n";
  for (auto const& [part, pairs] : parts_)
    for (auto const& [pair, times] : pairs)
      all += fmt::format("{},{},{},{}\n", csv_cell(part), csv_cell(pair.first), csv_cell(pair.second), times);
  return all;
}

}  // namespace triad::programs
