// The options of every verb on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../common/seq2seq/command_line.hpp"
#include "options.hpp"

namespace cognition {

inline void add_data_options(CLI::App& app, options& o) {
  app.add_option("--data", o.data, "Folder of a data set, or a file of pairs; without it, commands of our own grammar");
  app.add_option("--task", o.task, "What --data has: cognition, scan, cogs (sentence to logical form), pairs")->check(CLI::IsMember({"cognition", "scan", "cogs", "pairs"}));
  app.add_option("--split", o.split, "Of scan")->check(CLI::IsMember({"simple", "addprim_jump", "length", "mcd1", "mcd2"}));
  app.add_option("--train-on", o.train_on, "Of cognition: train, as in the paper; or valid+test, a smaller task of our own that is not the paper's")
      ->check(CLI::IsMember({"train", "valid+test"}));
  app.add_option("--test", o.test, "Of pairs: a file to test on, where --data is a file")->check(CLI::ExistingFile);
  app.add_option("--sentences", o.sentences, "Generated commands to train on")->check(CLI::PositiveNumber);
  app.add_option("--test-size", o.test_size, "Generated commands of each part and kind")->check(CLI::PositiveNumber);
  app.add_option("--data-seed", o.data_seed, "Of generated commands");
}

inline void add_generate_options(CLI::App& app, options& o) {
  app.add_option("--out", o.out, "Folder of the new data set")->required();
  app.add_option("--sentences", o.sentences, "Training commands")->check(CLI::PositiveNumber);
  app.add_option("--test-size", o.test_size, "Commands of each other part and kind")->check(CLI::PositiveNumber);
  app.add_option("--data-seed", o.data_seed);
}

}  // namespace cognition
