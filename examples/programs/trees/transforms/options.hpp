// The options of tree-transforms for task and rows, in addition to the options of all tree-to-tree programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "kinds.hpp"
#include "splits.hpp"
#include "trees/program.hpp"

namespace triad::programs::transforms {

struct options : trees::program_options {
  // data: a folder with train, validation, test, ood_new and ood_long; empty: generated
  std::string task = "active-logical";  // the task, see kinds.hpp
  bool one_way = false;                 // only rows with logical forms as targets, even if the task has both directions
  int rows = 10000;                     // number of generated training rows
  int test_size = 1250;                 // number of generated rows of each other split
  std::uint64_t data_seed = 1;          // seed of generated rows; --seed does not change them
  std::string as = "trees";             // generate: file names for programs of trees or of sequences
  std::string voice;                    // generate: new voice of the sentences of --data; empty: unchanged

  options() {
    steps = 0;
    batch = 0;
    zero_is_by_task = true;
    part_names = {split_names.begin(), split_names.end()};
    split = "test";
  }
  void each(option_list& f) override {
    std::set<std::string> const generate{"generate"};
    std::vector<std::string> const tasks{"car-cdr-seq", "active-logical", "passive-logical", "active-passive-logical"};
    f("preset", &preset, "paper, small, smoke").one_of({"paper", "small", "smoke"}).free();
    f("task", &task, "car-cdr-seq, active-logical, passive-logical, active-passive-logical")
        .also(generate)
        .one_of(tasks)
        .shapes();
    f.seldom("one-way", &one_way, "To logical forms alone, also where the task goes both ways").also(generate).shapes();
    f("rows", &rows, "Generated: training rows").also(generate).positive().shapes().within(1, [] {
      return std::numeric_limits<int>::max();
    });
    f.seldom("data-seed", &data_seed, "Generated: of the rows").also(generate).shapes();
    f("data", &data,
      "Folder with train, validation, test, ood_new and ood_long as .jsonl, gzipped or not; without it, generated rows")
        .also({"evaluate", "explain", "generate"})
        .path();
    f.seldom("test-size", &test_size, "Generated: rows of each split but train")
        .also({"evaluate", "explain", "generate"})
        .positive()
        .free();
    trees::program_options::each(f);
    f("as", &as, "trees, files for this program; or sequences, the same lines in files for pairs")
        .only(generate)
        .one_of({"trees", "sequences"});
    f("voice", &voice, "Of --data: sentences are said so, active or passive, whatever they were; logical forms stay")
        .only(generate)
        .one_of({"active", "passive"});
    f("out", &out, "Folder of the new data set").only(generate).required().file_or_folder();
  }
  /// Throws data_error if there is no such task.
  void settle() override {
    auto const& facts = facts_of(task);
    if (steps == 0) steps = facts.steps;
    if (batch == 0) batch = facts.batch;
    trees::program_options::settle();
  }
};

/// Sets the defaults of o.preset.  Without a preset, sets the defaults of the preset paper.
///   paper   Updates, warm-up, cosine, layers, heads, batch, beta 1, clip and 4 d are in appendix D.1 of the paper.  It
///           gives two values each for decay, width, beta 2 and dropout, with the best in bold.  The text that we used
/// had
///           no bold type, so these four are the values of the released program's command.  The rate, AdamW instead of
///           Adam, and a cosine that falls from epoch to epoch are only in the released program.
///   small   our own settings
inline void apply_preset(options& o) {
  if (o.preset == "small") {  // other options as in paper; not every seed learns (docs/results/trees.md)
    o.one_way = true;
    o.steps = 8;
    o.depth = 10;
    o.temperature = 10;
    o.cooling = 8000;
    o.updates = 12000;
    o.seed = 3;
  }
  if (o.preset == "smoke") {
    o.one_way = true;
    o.steps = 3;
    o.width = 16;
    o.heads = 2;
    o.dropout = 0;
    o.rows = 24;
    o.test_size = 4;
    o.batch = 4;
    o.updates = 12;
    o.warmup = 0;
  }
}

}  // namespace triad::programs::transforms
