// The options of every verb on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "../common/program.hpp"
#include "commands.hpp"

namespace cogs {

using triad::examples::not_negative, triad::examples::positive;

inline void add_data_options(CLI::App& app, options& o) {
  app.add_option("--data", o.data,
                 "Folder with train, dev, test and gen as .jsonl or .tsv, gzipped or not; without it, sentences of our "
                 "own grammar");
  app.add_option("--labels", o.labels,
                 "Of the generalisation set: 2020, as published, or 2022, as corrected (gen_2022fix)")
      ->check(CLI::IsMember({"2020", "2022"}));
  app.add_option("--test-size", o.test_size, "Generated sentences of each kind")->check(positive);
}

/// Presets are applied when the command line is read: what is given beside one overrides it.
inline void add_train_options(CLI::App& app, options& o) {
  app.add_option("--preset", o.preset, "paper, small, smoke")->check(CLI::IsMember({"paper", "small", "smoke"}));
  add_data_options(app, o);
  triad::examples::add_training_options(app, o);
  app.add_option("--sentences", o.sentences, "Generated sentences to train on")->check(positive);
  app.add_option("--model", o.model, "edge-transformer, or the released baselines: transformer, universal-transformer")
      ->check(CLI::IsMember({"edge-transformer", "transformer", "universal-transformer"}));
  app.add_option("--attention", o.attention,
                 "Of edge-transformer: full, value-ablation, attention-ablation, both-ablations, flat")
      ->transform(CLI::CheckedTransformer(triad::examples::attention_names()));
  app.add_flag("--paper-form", o.paper_form, "The layer of the paper's equation 3 instead of the released program's");
  app.add_flag("--positional", o.positional,
               "First states from both ends' tokens and positions, instead of from relative positions");
  app.add_flag("--from-parent", o.from_parent,
               "Read parents from edges (parent, child), as the paper says; else from (child, parent), as released");
  app.add_flag("--learn-all", o.learn_all,
               "Learn the vector of word 1 too, which the released program takes for padding");
  app.add_flag("--tied", o.tied, "One layer's parameters for all, as the paper says; else each its own, as released");
  app.add_option("--epochs", o.epochs, "Passes over the training sentences")->check(positive);
  app.add_option("--batch", o.batch, "Sentences in a batch")->check(positive);
  app.add_option("--weight-decay", o.decay, "Weight decay of AdamW")->check(not_negative);
}

inline void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, CLI::App& generate, options& o,
                              query& q) {
  add_data_options(evaluate, o);
  for (auto* const verb : {&predict, &explain}) {
    verb->add_option("--sentence", q.sentence, "Words and signs separated by spaces: \"A rose was helped by a dog .\"")
        ->check(triad::examples::not_blank);
    verb->add_flag("--argmax", q.argmax,
                   "Each word's own best parent, as published; else the best parents without a cycle");
  }
  predict.footer("Without --sentence, every line of standard input is one.");
  explain.add_option("--out", o.out, "Folder for graph.svg");
  generate.add_option("--out", o.out, "Folder of the new data set")->required();
  generate.add_option("--count", q.count, "Training sentences")->check(positive);
  generate.add_option("--test-size", o.test_size, "Sentences of each test kind")->check(positive);
  generate.add_option("--seed", o.seed)->check(triad::examples::any_seed);
}

}  // namespace cogs
