// The options of every verb on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "../common/program.hpp"
#include "commands.hpp"

namespace clutrr {

using triad::examples::between, triad::examples::not_negative, triad::examples::positive;

inline void add_data_options(CLI::App& app, options& o) {
  app.add_option("--data", o.data, "CLUTRR CSV file (.csv, .csv.gz) or data set folder; without it, generated chains");
  app.add_option("--test-size", o.test_size, "Generated chains for each k of the test")->check(positive);
}

/// Presets are applied when the command line is read: what is given beside one overrides it.
inline void add_train_options(CLI::App& app, options& o) {
  app.add_option("--preset", o.preset, "quickstart, paper-k234, paper-k23, smoke")
      ->check(CLI::IsMember({"quickstart", "paper-k234", "paper-k23", "smoke"}));
  add_data_options(app, o);
  triad::examples::add_training_options(app, o);
  app.add_option("--train-lengths", o.train_lengths, "k of generated training chains")
      ->delimiter(',')
      ->check(between(2, 40));
  app.add_option("--validation", o.validation, "Part of a training file that is held out")->check(between(0.0, 0.9));
  app.add_flag("--shuffle,!--no-shuffle", o.shuffle,
               "Another order in every epoch; else one random order for all, as the released program");
  app.add_option("--model", o.model, "edge-transformer, or the baselines rat and rrat")
      ->check(CLI::IsMember({"edge-transformer", "rat", "rrat"}));
  app.add_option("--compare", o.compare, "Another model to train as long, for comparison")
      ->check(CLI::IsMember({"", "rat", "rrat"}));
  app.add_option("--attention", o.attention, "full, value-ablation, attention-ablation, both-ablations, flat")
      ->transform(CLI::CheckedTransformer(triad::examples::attention_names()));
  app.add_flag("--paper-form", o.paper_form, "The layer of the paper's equation 3 instead of the released program's");
  app.add_flag("--tied,!--untied", o.tied, "One layer's parameters for all, as the paper says; else each its own");
  app.add_option("--epochs", o.epochs, "Passes over a file; generated: parts, each ending in a checkpoint")
      ->check(positive);
  app.add_option("--chains", o.chains, "Generated training chains in all")
      ->check(positive)
      ->check(triad::examples::any_count);
  app.add_option("--batch", o.batch, "Graphs in a batch")->check(positive);
}

inline void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, CLI::App& generate, options& o,
                              query& q) {
  add_data_options(evaluate, o);
  for (auto* const verb : {&predict, &explain}) {
    verb->add_option("--data", o.data, "CLUTRR CSV file with the questions")
        ->configurable(false);  // not the run's data set
    verb->add_option("--facts", q.facts, "Facts as \"ann:mother:bea bea:brother:carl\": the mother of ann is bea, ...");
    verb->add_option("--ask", q.asked, "The question to the facts as \"ann:carl\": what is carl to ann?");
  }
  explain.add_option("--row", q.number, "Which row of the file, or which generated chain, from 0")->check(not_negative);
  explain.add_option("--length", q.k, "Without --data and --facts: k of a generated chain")->check(between(2, 40));
  explain.add_option("--out", o.out, "Folder for proof.svg");
  generate.add_option("--out", o.out, "Folder of the new data set")->required();
  generate.add_option("--lengths", q.lengths, "k of the training chains")->delimiter(',')->check(between(2, 40));
  generate.add_option("--count", q.count, "Training chains for each k")->check(positive);
  generate.add_option("--test-size", o.test_size, "Test chains for each k = 2..10")->check(positive);
  generate.add_option("--seed", o.seed)->check(triad::examples::any_seed);
}

}  // namespace clutrr
