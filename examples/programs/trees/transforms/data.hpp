// Reads the rows of a run from the published folder, or generates them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "generate.hpp"
#include "options.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/report/refuse.hpp"
#include "trees/read.hpp"

namespace triad::programs::transforms {

/// Reads one split of a folder from NAME.jsonl, gzipped or not, or from NAME.json, the name in one of the published
/// sources.  The split validation may be called dev.  The files of training and validation must exist.
inline void read_split(std::string const& folder, split s, trees::part& to, depth_limit const& limit) {
  std::string const name = name_of(s);
  std::vector<std::string> const names{name + ".jsonl", name + ".json"};
  auto path = s == split::dev ? find_dev(folder, {".jsonl", ".json"}) : find_file(folder, names);
  if (path.empty() && (s == split::train || s == split::dev))
    path = need_file(folder, names, "docs/data.md says where it comes from");
  if (!path.empty()) to = trees::read_rows(path, limit, std::move(to));
}

/// Reads all splits of a folder.
inline data_set read_data(std::string const& folder, depth_limit const& limit = {}) {
  if (!std::filesystem::is_directory(folder))
    refuse("{}: a folder with train, validation, test, ood_new and ood_long is expected", folder);
  auto data = no_rows();
  for (auto const s : splits) read_split(folder, s, part_of(data, s), limit);
  return data;
}

/// Reads or generates the data of a run.  If `trained`, the data are for a trained machine, whose depth is fixed.
inline data_set load_data(options const& o, bool trained = false) {
  auto const& facts = facts_of(o.task);
  auto limit = trees::limit_of(o, trained);
  if (o.data.empty()) {
    auto data = generate_data({facts.which, o.one_way, o.rows, o.test_size, o.data_seed}, limit);
    if (data.train().rows.empty())
      refuse("no row of {} has a depth of {} or less: {}", o.task, o.depth, limit.advice_without_rows());
    return data;
  }
  refuse_generated(o, {"rows", "data-seed", "test-size"}, "rows");
  bool const one_way = o.one_way && facts.both_ways;
  if (one_way) limit.is_about = [](row const& r) { return r.source.label() != root_of(form::logical); };
  auto data = read_data(o.data, limit);
  if (one_way && data.train().rows.empty() && data.train().skipped == 0)
    refuse("{}: there is no row to a logical form, which --one-way asks for", o.data);
  return data;
}

}  // namespace triad::programs::transforms
