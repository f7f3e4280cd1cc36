// Pairs of texts for training and for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shared/data/data_folder.hpp"
#include "shared/data/text_pairs.hpp"

namespace triad::programs::sequences {

struct test_part {
  std::string name;
  std::vector<text_pair> pairs;
  bool undivided = false;  // the targets are not divided into words, so a dictionary cannot have their words
};

struct data_set {
  std::vector<text_pair> train;
  std::vector<text_pair> dev;  // if empty, checkpoints are validated on pairs of `train`
  std::vector<test_part> tests;
};

/// Reads a folder with train.tsv and any of dev (or validation), test and gen.  The columns are source, target and
/// optionally kind.  If `needs_train`, a missing train.tsv is an error.  Calls expect(pair) for each pair.  If it
/// throws data_error, adds the file and the line to the message.
inline data_set read_columns(std::string const& folder, bool needs_train, std::string const& advice,
                             std::function<void(text_pair const&)> const& expect = {}) {
  auto const read = [&](std::string const& path) { return read_pairs(path, expect); };
  data_set d;
  if (needs_train) d.train = read(need_file(folder, {"train.tsv", "train.txt"}, advice));
  if (auto const dev = find_dev(folder, {".tsv", ".txt"}); !dev.empty()) d.dev = read(dev);
  if (!d.dev.empty()) d.tests.push_back({"dev", d.dev});
  for (auto const* name : {"test", "gen"})
    if (auto const path = find_file(folder, {name + std::string(".tsv"), name + std::string(".txt")}); !path.empty())
      d.tests.push_back({name, read(path)});
  if (!needs_train && d.tests.empty()) (void)need_file(folder, {"dev.tsv", "test.tsv", "gen.tsv"}, advice);
  return d;
}

}  // namespace triad::programs::sequences
