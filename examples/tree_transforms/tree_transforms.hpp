// tree-transforms: Basic Sentence Transforms, published or generated, by the verbs of every tree-to-tree program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "../apps/atomic_file.hpp"
#include "../apps/run_folder.hpp"
#include "../apps/verbs.hpp"
#include "../trees/program.hpp"
#include "data.hpp"

namespace tree_transforms {

/// The rows of the command line; it is said where they are generated: a run may have been trained on others.
inline trees::named_data data_of(options const& o, bool trained) {
  if (trained && o.data.empty()) fmt::print("rows are generated; --data takes a folder\n");
  return {o.task, load_data(o, trained)};
}

/// A row is the same line for all programs: its trees, read as words, are sequences with parentheses among them.
inline int generate(options& o) {
  o.settle();
  o.depth = trees::deepest_numbered;
  auto const data = load_data(o);
  triad::apps::make_folder(o.out);
  for (auto const s : splits) {
    auto const& rows = part_of(data, s).rows;
    if (rows.empty()) continue;  // a folder may have no such split
    std::string text;
    for (auto const& r : rows) text += trees::to_json_line(r) + "\n";
    auto const path = o.out + "/" + (o.as == "sequences" ? own_name_of(s) : name_of(s)) + ".jsonl";
    triad::apps::write_atomically(path, text);
    fmt::print("{}  {} rows\n", path, rows.size());
  }
  return 0;
}

struct task {
  static int main(int argc, char** argv) {
    return triad::apps::run_program<options>(
        "tree-transforms",
        "Basic Sentence Transforms: from one tree to another.  A Differentiable Tree Machine learns programs of car, "
        "cdr and cons, and shows them.",
        [](options& o) {
          auto all = trees::verbs_of(
              o, [&o](bool trained) { return data_of(o, trained); },
              "Train on a data set or on generated rows, and score all splits");
          all.push_back(
              {"generate", "Write the rows of all splits, generated or of --data", [&o] { return generate(o); }});
          return all;
        },
        argc, argv);
  }
};

}  // namespace tree_transforms
