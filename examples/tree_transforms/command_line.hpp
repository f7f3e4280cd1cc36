// The options of every verb on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "../common/program.hpp"
#include "commands.hpp"

namespace tree_transforms {

using triad::examples::between, triad::examples::not_negative, triad::examples::positive;

inline void add_task_options(CLI::App& app, options& o) {
  app.add_option("--task", o.task, "car-cdr-seq, active-logical, passive-logical, active-passive-logical")
      ->check(CLI::IsMember({"car-cdr-seq", "active-logical", "passive-logical", "active-passive-logical"}));
  app.add_flag("--one-way", o.one_way, "To logical forms alone, also where the task goes both ways");
  app.add_option("--rows", o.rows, "Generated: training rows")->check(positive);
  app.add_option("--data-seed", o.data_seed, "Generated: of the rows")->check(triad::examples::any_seed);
}

inline void add_data_options(CLI::App& app, options& o) {
  app.add_option("--data", o.data,
                 "Folder with train, validation, test, ood_new and ood_long as .jsonl, gzipped or not; without it, "
                 "generated rows");
  app.add_option("--test-size", o.test_size, "Generated: rows of each split but train")->check(positive);
  app.add_flag("--skip-deeper", o.skip_deeper,
               "Leave rows out whose trees are too deep, as the released program does, instead of refusing them");
}

/// Presets are applied when the command line is read: what is given beside one overrides it.
inline void add_train_options(CLI::App& app, options& o) {
  app.add_option("--preset", o.preset, "paper, small, smoke")->check(CLI::IsMember({"paper", "small", "smoke"}));
  add_task_options(app, o);
  add_data_options(app, o);
  triad::examples::add_training_options(app, o);
  app.get_option("--learning-rate")->description("Learning rate after warm-up; falls as a cosine, epoch by epoch");
  app.get_option("--layers")->description("Transformer layers of each step");
  app.get_option("--hidden-factor")->description("Width of the feed-forward block over the width");
  app.add_option("--model", o.model, "tree-machine")->check(CLI::IsMember({"tree-machine"}));
  app.add_option("--steps", o.steps, "Steps of the machine; 0: the paper's for the task")->check(between(0, 64));
  app.add_option("--depth", o.depth,
                 "Of trees at most, a root alone has 1; roles are as deep as the data's deepest tree")
      ->check(between(1, 24));
  app.add_option("--role-depth", o.role_depth, "Levels of roles, where that is more than the data's deepest tree")
      ->check(between(0, 24));
  app.add_option("--choice", o.choice,
                 "softmax; gumbel: with noise and a falling temperature in training; gumbel-released: that over "
                 "arguments, not trees")
      ->check(CLI::IsMember({"softmax", "gumbel", "gumbel-released"}));
  app.add_option("--operation-choice", o.operation_choice,
                 "Of operations alone: softmax, gumbel; without it, as --choice says")
      ->check(CLI::IsMember({"softmax", "gumbel"}));
  app.add_option("--argument-choice", o.argument_choice,
                 "Of arguments alone: softmax, gumbel, gumbel-released; without it, as --choice says")
      ->check(CLI::IsMember({"softmax", "gumbel", "gumbel-released"}));
  app.add_option("--temperature", o.temperature,
                 "Of softmax in training: scores are divided by it; it falls from this to 1")
      ->check(between(1, 1000000));
  app.add_option("--cooling", o.cooling, "Updates until the temperature is 1; 0: it always is")->check(not_negative);
  app.add_option("--interpreter", o.interpreter,
                 "rows: canonical roles; matrices: random orthonormal roles; learned: matrices that are learned")
      ->check(CLI::IsMember({"rows", "matrices", "learned"}));
  app.add_option("--role-seed", o.role_seed, "Of the roles of --interpreter matrices and learned")
      ->check(triad::examples::any_seed);
  app.add_option("--updates", o.updates, "Batches to train on")->check(positive)->check(triad::examples::any_count);
  app.add_option("--batch", o.batch, "Rows of a batch; 0: the paper's for the task")->check(not_negative);
  app.add_option("--weight-decay", o.decay, "Weight decay of AdamW, of all parameters")->check(not_negative);
  app.add_option("--beta1", o.beta1, "Of AdamW")->check(between(0.0, 0.9999));
  app.add_option("--beta2", o.beta2, "Of AdamW")->check(between(0.0, 0.99999));
  app.add_option("--train-sample", o.train_sample, "Training rows that are scored at the end; 0: all")
      ->check(not_negative);
}

inline void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, CLI::App& generate, options& o,
                              query& q) {
  for (auto* const verb : {&evaluate, &explain}) {
    add_data_options(*verb, o);
    verb->add_option("--threshold", q.threshold, "A program is extracted where each of its choices has this weight")
        ->check(between(0.0, 1.0));
  }
  evaluate.add_flag("--discrete", q.discrete, "Also run each step's likeliest choices on trees of symbols");
  evaluate.add_flag("--programs", q.programs,
                    "Also extract programs, run them, and count where they agree with the machine");
  predict.add_option("--tree", q.tree, "( LABEL child child )")->check(triad::examples::not_blank);
  predict.add_flag("--json", q.as_json, "One JSON object a line");
  predict.footer("Without --tree, every line of standard input is one.");
  auto* const tree = explain.add_option("--tree", q.tree, "( LABEL child child ): what the machine does with it")
                         ->check(triad::examples::not_blank);
  explain.add_option("--split", q.split, "Of the data: train, validation, test, ood_new, ood_long")
      ->check(CLI::IsMember({"train", "validation", "test", "ood_new", "ood_long"}))
      ->excludes(tree);
  explain
      .add_option("--row", q.row,
                  "What the machine does with this row of the split, from 1; without it, the programs of all")
      ->check(positive)
      ->excludes(tree);
  explain.add_option("--json", q.json, "File for every weight of every step");
  explain.add_option("--dot", q.dot, "File for Graphviz: steps and the trees they take");
  explain.add_option("--svg", q.svg, "File for a drawing of all trees");
  add_task_options(generate, o);
  generate.add_option("--test-size", o.test_size, "Rows of each split but train")->check(positive);
  generate.add_option("--out", o.out, "Folder of the new data set")->required();
}

}  // namespace tree_transforms
