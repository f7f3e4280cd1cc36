// cognition: CoGnition and other tasks from sequence to sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "../apps/new_data.hpp"
#include "../apps/verbs.hpp"
#include "../pairs/program.hpp"
#include "score.hpp"

namespace cognition {

inline int generate(options const& o) {
  auto const data = generate_data(o);
  std::vector<triad::apps::new_file> files;
  auto const add = [&](std::string const& name, std::vector<seq2seq::text_pair> const& pairs) {
    std::string text;
    for (auto const& pair : pairs) text += pair.source + "\t" + pair.target + "\t" + pair.kind + "\n";
    files.push_back({name + ".tsv", std::move(text), fmt::format("{} commands", pairs.size())});
  };
  add("train", data.train);
  add("dev", data.dev);
  for (auto const& part : data.tests) add(part.name, part.pairs);
  triad::apps::write_data(o.out, files);
  return 0;
}

struct task {
  static int main(int argc, char** argv) {
    return triad::apps::run_program<options>(
        "cognition",
        "CoGnition and other tasks from sequence to sequence.  A Transformer whose layers read all earlier layers, or "
        "a plain one, learns to translate, and is tested on sentences that are new in their composition alone.",
        [](options& o) {
          auto verbs = seq2seq::verbs_of(o, [&o](bool needs_train, bool measures) {
            return measures ? program_of(o, needs_train) : seq2seq::program{data_of(o, needs_train)};
          });
          verbs.push_back({"generate", "Write generated commands and their actions", [&o] { return generate(o); }});
          return verbs;
        },
        argc, argv);
  }
};

}  // namespace cognition
