// The program trees: transforms trees into trees.  You train it on your own data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "program.hpp"
#include "read.hpp"
#include "shared/cli/say.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::trees {

struct own_options : program_options {
  bool cools = true;  // whether choices cool down by default
  std::string file;   // inspect: the file to summarise

  own_options() { rate = 1e-3, warmup = robust_warmup = 100, updates = 2000, evaluate_every = 500; }
  void each(option_list& f) override {
    f("program", &program, "").one_of({"trees"}).hidden().free();
    f("preset", &preset, "small, paper, smoke").one_of({"small", "paper", "smoke"}).free();
    f("data", &data, "Folder with train.jsonl, maybe dev.jsonl, and test.jsonl or several test_NAME.jsonl")
        .also({"evaluate", "explain"})
        .path();
    program_options::each(f);
    f.seldom("binarise", &binarise,
             "Trees are a treebank's, ( (S (A b) (C d) (E f)) ): of three children and more; made binary, here and for "
             "predict")
        .also({"inspect"})
        .newer()
        .shapes();
    f.seldom("evaluate-every", &evaluate_every, "Updates between two checkpoints").positive();
    f("file", &file, "A file of trees").only({"inspect"}).positional().required().existing_file();
  }
  void settle() override {
    follow_recipe();
    bool const soft = choice_of_operations(*this) == "softmax" || choice_of_arguments(*this) == "softmax";
    if (recipe == "published" && cools && soft && updates >= 5 && !is_set("temperature") && !is_set("cooling")) {
      temperature = 10;
      cooling = static_cast<int>(std::min<std::int64_t>(updates / 5 * 3, 1'000'000'000));
    }
    program_options::settle();
  }
};

/// Sets the defaults.  They are our own settings, those of the preset small: the temperature of choices falls from 10
/// to 1 in the first three fifths of a run.
///   paper   The options of the released program's command, with two exceptions.  There are 12 steps, the smallest
///           number that the released program has for a task.  The roles are as deep as the data.  (The tasks of the
///           released program are in tree-transforms.)
inline void apply_preset(own_options& o) {
  o.cools = o.preset != "paper" && o.preset != "smoke";
  options const paper;
  if (o.preset == "paper") {
    o.rate = paper.rate;
    o.warmup = paper.warmup;
    o.updates = paper.updates;
    o.steps = 12;
  }
  if (o.preset == "smoke")
    o.steps = 3, o.width = 16, o.heads = 2, o.dropout = 0, o.warmup = 0, o.batch = 4, o.updates = 12,
    o.evaluate_every = 6;
}

/// Reads the parts of o.data.  It is a folder, or, for a trained machine, a folder or a single file.
inline named_data data_of(own_options const& o, bool trained) {
  if (o.data.empty())
    refuse(
        "there is nothing to read: give a folder with train.jsonl and test.jsonl with --data; docs/data.md has the "
        "format");
  auto const files = find_data(o.data, {".jsonl"}, !trained);
  auto const limit = limit_of(o, trained);
  named_data all{o.data, {{part("train"), part("dev")}}};
  auto const read = [&](std::string const& path, part& to) {
    if (!path.empty()) to = read_rows(path, limit, std::move(to), o.binarise);
  };
  read(files.train, all.data.parts[0]);
  read(files.dev, all.data.parts[1]);
  for (auto const& [name, path] : files.tests) read(path, all.data.parts.emplace_back(name));
  return all;
}

inline int inspect(std::string const& path, bool binary) {
  auto const rows = read_rows(path, {.most = std::numeric_limits<index_t>::max()}, {}, binary).rows;
  std::set<std::string> sources, targets;
  index_t depth = 0, largest = 0;
  std::size_t its_row = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const& [source, target] = rows[i];
    for (auto const& node : source.nodes()) sources.insert(node.label);
    for (auto const& node : target.nodes()) targets.insert(node.label);
    depth = std::max(depth, rows[i].depth());
    if (auto const nodes = std::max(source.size(), target.size()); nodes > largest) {
      largest = nodes;
      its_row = i + 1;
    }
  }
  auto all = sources;
  all.insert(targets.begin(), targets.end());
  say("{}: {} rows, {} labels ({} in sources, {} in targets)\n", path, rows.size(), all.size(), sources.size(),
      targets.size());
  fmt::print("trees of depth {} at most; the largest has {} nodes, in row {}\n", depth, largest, its_row);
  return 0;
}

}  // namespace triad::programs::trees
