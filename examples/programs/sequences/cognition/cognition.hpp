// cognition: CoGnition and other tasks from sequence to sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "score.hpp"
#include "sequences/program.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/new_data.hpp"

namespace triad::programs::cognition {

inline int generate(options const& o) {
  auto const data = generate_data(o);
  std::vector<new_file> files;
  auto const add = [&](std::string const& name, std::vector<text_pair> const& pairs) {
    std::string text;
    for (auto const& pair : pairs) text += pair.source + "\t" + pair.target + "\t" + pair.kind + "\n";
    files.push_back({name + ".tsv", std::move(text), fmt::format("{} commands", pairs.size())});
  };
  add("train", data.train);
  add("dev", data.dev);
  for (auto const& part : data.tests) add(part.name, part.pairs);
  write_data(o.out, files);
  return 0;
}

}  // namespace triad::programs::cognition
