// The options of every verb on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../common/seq2seq/command_line.hpp"
#include "options.hpp"

namespace cognition {

using triad::examples::positive;

inline void add_data_options(CLI::App& app, options& o) {
  app.add_option("--data", o.data, "Folder of a data set, or a file of pairs; without it, commands of our own grammar");
  app.add_option("--task", o.task, "What --data has: cognition, scan, cogs (sentence to logical form), pairs")
      ->check(CLI::IsMember({"cognition", "scan", "cogs", "pairs"}));
  app.add_option("--split", o.split, "Of scan, as its files call it: length, simple, addprim_jump, mcd1, ...");
  app.add_option(
         "--train-on", o.train_on,
         "Of cognition: train, as in the paper; or valid+test, a smaller task of our own that is not the paper's")
      ->check(CLI::IsMember({"train", "valid+test"}));
  app.add_option("--test", o.test, "Of pairs: a file to test on, where --data is a file")->check(CLI::ExistingFile);
  app.add_option("--sentences", o.sentences, "Generated commands to train on")->check(positive);
  app.add_option("--test-size", o.test_size, "Generated commands of each part and kind")->check(positive);
  app.add_option("--data-seed", o.data_seed, "Of generated commands")->check(triad::examples::any_seed);
}

inline void add_train_options(CLI::App& app, options& o) {
  seq2seq::add_train_options(app, o);
  add_data_options(app, o);
  app.footer(
      "Preset paper: 6 + 6 layers and 100,000 updates are the paper's; widths of 512 and 1024 and the tied "
      "output follow from the parameters that it counts; heads, rate, warm-up, smoothing, dropout, --tokens and "
      "--beam are our guess.");
}

inline void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, CLI::App& generate, options& o,
                              seq2seq::query& q) {
  seq2seq::add_query_options(evaluate, predict, explain, o, q);
  add_data_options(evaluate, o);
  add_data_options(explain, o);
  generate.add_option("--out", o.out, "Folder of the new data set")->required();
  generate.add_option("--sentences", o.sentences, "Training commands")->check(positive);
  generate.add_option("--test-size", o.test_size, "Commands of each other part and kind")->check(positive);
  generate.add_option("--data-seed", o.data_seed)->check(triad::examples::any_seed);
}

}  // namespace cognition
