// The options of all tree-to-tree programs: machine and training.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "shared/cli/options.hpp"

namespace triad::programs::trees {

/// The defaults are those of the released program's command, except for the number of steps and the depth of the roles,
/// which is no larger than the depth of the data.
struct options : stack_options {
  bool skip_deeper = false;  // leaves out rows deeper than `depth`, as the released program does
  bool binarise = false;     // reads treebank trees, with any number of children; makes them binary

  // model: `layers` is the number of Transformer layers in each step
  int steps = 8;                   // number of steps of the machine
  int depth = 12;                  // largest depth of a tree; roles are only as deep as the data's deepest tree
  int role_depth = 0;              // levels of roles, if more than the depth of the data
  std::string choice = "softmax";  // softmax; gumbel: with noise and a falling temperature in training;
                                   // gumbel-released: gumbel by the released program's method
  std::string operation_choice;    // for operations only: softmax or gumbel; empty: `choice`
  std::string argument_choice;     // for arguments only: softmax, gumbel or gumbel-released; empty: `choice`
  std::string root = "scores";     // root of cons: scores: the agent's output; distribution: softmax of that output
  bool empty_tree = false;         // every step may choose the empty tree as an argument
  double temperature = 1;          // initial temperature of softmax in training; it falls to 1
  int cooling = 0;                 // updates until the temperature is 1
  std::string loss = "squared";    // squared or divergence: distance of the right symbol's score from 1
  double floor = 1e-3;             // below this score, the divergence is replaced by its tangent at this score
  double empty_weight = 1;         // initial weight of positions without a symbol in the loss; it changes to 1
  int empty_updates = 0;           // updates until that weight is 1
  double evenness = 0;             // initial penalty on uneven choices; it falls to 0; not in reported losses
  double recency = 0;              // initial penalty on choosing an old tree: `recency` / `steps` for each step since
                                   // the tree was made; it falls to 0
  int even_updates = 0;            // updates until evenness and recency are 0
  double choice_deviation = 0;     // of the initial maps that score choices; 0: as for all linear maps
  /// rows: canonical roles; matrices: random orthonormal roles; learned: matrices that are parameters.
  std::string interpreter = "rows";
  std::uint64_t role_seed = 1;  // seed of the random orthonormal roles

  // training: after the warm-up, the rate follows a cosine, as in the released program
  std::string recipe = "published";  // published: as in the preset; robust, long: our values for other options
  int robust_warmup = 200;           // warm-up of the recipes robust and long
  std::int64_t updates = 20000;
  int attempts = 1;                 // largest number of attempts; the next begins if training rows are wrong
  double first_rows = 0;            // fraction of the training rows, the shortest, to train on first; 0: none
  std::int64_t last_updates = 400;  // number of updates on all rows, after `first_rows`, if some are wrong
  double last_rate = 0;             // learning rate in `last_updates`; 0: a tenth of `rate`
  int batch = 16;
  double decay = 0.1;
  double beta1 = 0.9, beta2 = 0.95;
  int train_sample = 1000;          // number of training rows to score at the end; 0: all
  std::int64_t evaluate_every = 0;  // updates between two checkpoints; 0: one epoch

  bool zero_is_by_task = false;  // steps = 0 and batch = 0 mean the numbers of the task

  options() {
    model = "tree-machine";
    layers = 1;
    width = 64;
    heads = 4;
    dropout = 0.1;
    rate = 1e-4;
    warmup = 10000;
  }
  void each(option_list& f) override;
  void restored(checkpoint const& file) override;
  std::map<std::string, std::string> more_shapes() const override;
  /// Applies the recipe and checks the options.  Throws data_error.  Before the call, a program must replace steps = 0
  /// and batch = 0.
  void settle() override;

 protected:
  /// Returns whether this option is on the command line or in the config file.
  bool is_set(char const* name) const { return given.contains(name) || configured.contains(name); }
  /// If the command line has --choice, ignores the config file's --operation-choice and --argument-choice.  Then sets
  /// those options of the recipe that are not given.
  void follow_recipe();
};

/// Returns how operations are chosen: softmax or gumbel.  For operations, gumbel-released equals gumbel, because their
/// scores have only one axis.
inline std::string choice_of_operations(options const& o) {
  auto const& named = o.operation_choice.empty() ? o.choice : o.operation_choice;
  return named == "gumbel-released" ? "gumbel" : named;
}
/// Returns how arguments are chosen: softmax, gumbel or gumbel-released.
inline std::string choice_of_arguments(options const& o) {
  return o.argument_choice.empty() ? o.choice : o.argument_choice;
}
/// Returns the value of --choice, if one value stands for both choices.  Otherwise returns an empty text.
inline std::string choice_of_both(options const& o) {
  auto const operations = choice_of_operations(o), arguments = choice_of_arguments(o);
  if (operations == arguments) return arguments;
  return operations == "gumbel" && arguments == "gumbel-released" ? arguments : std::string();
}

/// Returns the number of an update within its attempt, from 0.
inline std::uint64_t update_of_attempt(options const& o, std::uint64_t update) {
  return update % static_cast<std::uint64_t>(o.updates);
}

/// Returns the temperature of an update.  Scores are divided by the temperature before `choice`, softmax or gumbel, is
/// applied.
///   softmax   The temperature falls from o.temperature to 1, by the same factor in every update.  Without cooling,
///             machines with few steps often become sure of their choices early.  The steps that are not chosen then
///             have no gradient.  At a high temperature, every step contributes to the answer.  Cooling then makes the
///             choices sharp.
///   gumbel    The temperature falls from 1 to 0.5, as in the released program.
inline double temperature_at(options const& o, std::string const& choice, std::uint64_t update) {
  auto const k = static_cast<double>(update);
  if (choice != "softmax") return std::max(0.5, 1 - k / static_cast<double>(o.updates));
  return update < static_cast<std::uint64_t>(o.cooling) ? std::pow(o.temperature, 1 - k / o.cooling) : 1;
}

/// Returns a value that falls linearly from `value`, at the first update, to 0 at update `until`.
inline double falling(double value, int until, std::uint64_t update) {
  return update < static_cast<std::uint64_t>(until) ? value * (1 - static_cast<double>(update) / until) : 0;
}

/// Returns the weight of evenness in the loss of an update, measured in positions.  The weight falls linearly from
/// o.evenness to 0.  A sure choice has no gradient, so a choice that is sure and wrong stays wrong.  Evenness keeps
/// every choice unsure until all other choices are about right.
inline double evenness_at(options const& o, std::uint64_t update) {
  return falling(o.evenness, o.even_updates, update);
}

/// Returns the penalty of an update on old trees as arguments.  A tree that was written k steps ago has k · penalty /
/// o.steps subtracted from its score.  The penalty falls linearly from o.recency to 0.  Without the penalty, the first
/// steps learn first, because most steps read their trees.  They then compute trees that belong to the end of the
/// program, and no earlier step is left to compute the arguments of these trees.
inline double recency_at(options const& o, std::uint64_t update) { return falling(o.recency, o.even_updates, update); }

/// Returns the weight that positions without a symbol have in the loss of an update.  The weight changes linearly from
/// o.empty_weight to 1.  A tree has few nodes and many empty positions.  At weight 1, a soft choice increases the loss
/// at empty positions as much as it reduces the loss at the right nodes.  With a small initial weight, the machine can
/// try a choice before it is sure.
inline double empty_weight_at(options const& o, std::uint64_t update) {
  if (update >= static_cast<std::uint64_t>(o.empty_updates)) return 1;
  return o.empty_weight + (1 - o.empty_weight) * static_cast<double>(update) / o.empty_updates;
}

}  // namespace triad::programs::trees
