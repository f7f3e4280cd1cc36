// Options of every tree-to-tree program: machine and training.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "shared/cli/options.hpp"

namespace triad::programs::trees {

/// The defaults are those of the released program's command, but for steps, and for roles no deeper than the data.
struct options : stack_options {
  bool skip_deeper = false;  // leave rows deeper than `depth` out, as the released program does
  bool binarise = false;     // trees are a treebank's, of any number of children, and made binary

  // model: layers are Transformer layers of a step
  int steps = 8;                   // of the machine
  int depth = 12;                  // at most; where the data's trees are less deep, theirs
  int role_depth = 0;              // levels of roles, where that is more
  std::string choice = "softmax";  // or gumbel: noise and a falling temperature in training; gumbel-released: the
                                   // released program's of it
  std::string operation_choice;    // of operations alone: softmax or gumbel; empty: as choice says
  std::string argument_choice;     // of arguments alone: softmax, gumbel or gumbel-released; empty: as choice says
  std::string root = "scores";     // of cons, as the agent says it; or distribution: its softmax
  bool empty_tree = false;         // an argument of a step may be it, without any step having made it
  double temperature = 1;          // of softmax in training, at first; it falls to 1
  int cooling = 0;                 // updates until it is there
  std::string loss = "squared";    // or divergence: how far the score of a right symbol is from 1
  double floor = 1e-3;             // of divergence: smaller scores have the tangent there
  double empty_weight = 1;         // of positions where no symbol should be, in the loss, at first; it goes to 1
  int empty_updates = 0;           // updates until it is there
  double evenness = 0;             // charge of uneven choices, at first; it goes to 0; in no reported loss
  double recency = 0;              // what a tree's score as an argument loses in as many steps as the machine has, at
                                   // first; it goes to 0
  int even_updates = 0;            // updates until both are there
  double choice_deviation = 0;     // of the first values of what scores operations and arguments; 0: as all linear maps
  /// Or matrices: over random orthonormal roles; learned: by matrices that are parameters.
  std::string interpreter = "rows";
  std::uint64_t role_seed = 1;  // of those roles

  // training: after the warm-up, the cosine of the released program's loop
  std::string recipe = "published";  // as the preset says; robust, long: ours, for options that are not given
  int robust_warmup = 200;           // of these two
  std::int64_t updates = 20000;
  int attempts = 1;                 // each of `updates`, while the training rows are not right
  double first_rows = 0;            // of the training rows, the fraction that has a training of its own first; 0: none
  std::int64_t last_updates = 400;  // of all rows, after that, where they are not all right
  double last_rate = 0;             // of these; 0: a tenth of `rate`
  int batch = 16;
  double decay = 0.1;
  double beta1 = 0.9, beta2 = 0.95;
  int train_sample = 1000;          // training rows that are scored at the end, the first; 0: all
  std::int64_t evaluate_every = 0;  // updates between two checkpoints; 0: an epoch's

  bool zero_is_by_task = false;  // steps and batch may be 0: a program fills in what its task has

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
  /// A program fills in first what 0 leaves to it.
  void settle() override;

 protected:
  /// Whether the command line or the config file has that option.
  bool is_set(char const* name) const { return given.contains(name) || configured.contains(name); }
  /// Takes back what a config file says of one choice where the command line says --choice; then gives what the recipe
  /// decides, and is not given, its values.
  void follow_recipe();
};

/// How operations are chosen: softmax or gumbel.  They have one axis, so the released program's gumbel is gumbel.
inline std::string choice_of_operations(options const& o) {
  auto const& named = o.operation_choice.empty() ? o.choice : o.operation_choice;
  return named == "gumbel-released" ? "gumbel" : named;
}
/// How arguments are chosen: softmax, gumbel or gumbel-released.
inline std::string choice_of_arguments(options const& o) {
  return o.argument_choice.empty() ? o.choice : o.argument_choice;
}
/// What --choice calls both; empty where it has no name for them.
inline std::string choice_of_both(options const& o) {
  auto const operations = choice_of_operations(o), arguments = choice_of_arguments(o);
  if (operations == arguments) return arguments;
  return operations == "gumbel" && arguments == "gumbel-released" ? arguments : std::string();
}

/// The number of an update within its attempt, from 0.
inline std::uint64_t update_of_attempt(options const& o, std::uint64_t update) {
  return update % static_cast<std::uint64_t>(o.updates);
}

/// What the scores of an update are divided by where `choice` is how they are chosen from.  Softmax: from o.temperature
/// down to 1, by the same factor every update.  Without it machines of few steps often settle early on choices that
/// leave other steps without a use and without a gradient; hot choices give every step its part of the answer, and the
/// cooling makes them choose.  Gumbel: from 1 down to 0.5, as in the released program.
inline double temperature_at(options const& o, std::string const& choice, std::uint64_t update) {
  auto const k = static_cast<double>(update);
  if (choice != "softmax") return std::max(0.5, 1 - k / static_cast<double>(o.updates));
  return update < static_cast<std::uint64_t>(o.cooling) ? std::pow(o.temperature, 1 - k / o.cooling) : 1;
}

/// From `value` to 0 in `until` updates, by as much every update.
inline double falling(double value, int until, std::uint64_t update) {
  return update < static_cast<std::uint64_t>(until) ? value * (1 - static_cast<double>(update) / until) : 0;
}

/// What the evenness of choices counts in the loss of an update, in positions: from o.evenness to 0, by as much every
/// update.  A choice that is sure has no gradient, and where the machine is wrong it stays wrong: so none may be sure
/// before the others are about right.
inline double evenness_at(options const& o, std::uint64_t update) {
  return falling(o.evenness, o.even_updates, update);
}

/// What a tree's score as an argument loses in all steps of the machine, in an update: from o.recency to 0, as evenness
/// falls.  Without it the first trees, which the most steps read, learn first, and what the end of a program needs
/// takes the first steps: none is left before them for what they need.
inline double recency_at(options const& o, std::uint64_t update) { return falling(o.recency, o.even_updates, update); }

/// What positions without a symbol count in the loss of an update: from o.empty_weight to 1, by as much every update. A
/// tree has few nodes and many places without one, and what a soft choice writes there is held against it as much as
/// what it gets right.  Where they count little at first, a choice may be tried before it is sure.
inline double empty_weight_at(options const& o, std::uint64_t update) {
  if (update >= static_cast<std::uint64_t>(o.empty_updates)) return 1;
  return o.empty_weight + (1 - o.empty_weight) * static_cast<double>(update) / o.empty_updates;
}

}  // namespace triad::programs::trees
