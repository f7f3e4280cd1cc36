// What a run of the tree-transforms program is told: presets, data, machine, training.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "../common/toml.hpp"
#include "kinds.hpp"

namespace tree_transforms {

struct options {
  // data
  std::string task = "active-logical";  // kinds.hpp
  std::string data;                     // a folder with train, validation, test, ood_new and ood_long; empty: generated
  bool one_way = false;                 // to logical forms alone, also where the task goes both ways
  int rows = 10000;                     // generated: for training
  int test_size = 1250;                 // generated: of each other split
  std::uint64_t data_seed = 1;          // generated: of the rows, which are the same for all seeds of a model
  bool skip_deeper =
      false;  // leave rows deeper than `depth` out, as the released program does, instead of refusing them

  // model
  std::string model = "tree-machine";
  int steps = 0;       // of the machine; 0: the paper's for the task
  int depth = 12;      // at most; where the data's trees are less deep, theirs
  int role_depth = 0;  // levels of roles, where that is more
  int layers = 1;      // Transformer layers of a step
  int width = 64, heads = 4, hidden_factor = 4;
  double dropout = 0.1;
  std::string choice = "softmax";  // or gumbel: noise and a falling temperature in training; gumbel-released: the
                                   // released program's of it
  std::string operation_choice;    // of operations alone: softmax or gumbel; empty: as choice says
  std::string argument_choice;     // of arguments alone: softmax, gumbel or gumbel-released; empty: as choice says
  double temperature = 1;          // of softmax in training, at first; it falls to 1
  int cooling = 0;                 // updates until it is there
  std::string interpreter =
      "rows";                   // or matrices: over random orthonormal roles; learned: by matrices that are parameters
  std::uint64_t role_seed = 1;  // of those roles

  // training
  std::int64_t updates = 20000;
  int batch = 0;  // 0: the paper's for the task
  double rate = 1e-4, decay = 0.1;
  double beta1 = 0.9, beta2 = 0.95;
  int warmup = 10000;  // updates; then the cosine of the released program's loop
  double clip = 1.0;
  std::uint64_t seed = 1;
  int seeds = 1;
  bool recompute = false;
  int train_sample = 1000;  // training rows that are scored at the end; 0: all

  // the run
  std::string backend = "cpu";
  std::string arithmetic = "float32";  // of products on a GPU: float32, tf32, bf16
  int threads = 0;                     // 0: all
  std::string out;
  bool resume = false;
  std::string preset, config;
  std::set<std::string> given, configured;  // options of the command line, and those that only the config file has
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

/// The defaults that o.preset stands for.  Without one they are the paper's for the task: preset paper.
///   paper   appendix D.1 of the paper has updates, warm-up, cosine, layers, heads, batch, beta 1, clip and 4 d, and of
///           decay, width, beta 2 and dropout two values each, of which these are the released program's.  The rate,
///           AdamW in Adam's place and a cosine that falls by epochs are the released program's alone.
///   small   ours
inline void apply_preset(options& o) {
  if (o.preset == "small") {  // all else as in the paper; not every seed learns it (docs/results.md)
    o.one_way = true, o.steps = 8, o.depth = 10, o.temperature = 10, o.cooling = 8000, o.updates = 12000;
    o.seed = 3;
  }
  if (o.preset == "smoke") {
    o.one_way = true, o.steps = 3, o.width = 16, o.heads = 2, o.dropout = 0;
    o.rows = 24, o.test_size = 4, o.batch = 4, o.updates = 12, o.warmup = 0;
  }
}

/// Fills in what 0 leaves to the task, once the command line is read.  Throws data_error where there is no such task.
inline void settle(options& o) {
  auto const& facts = facts_of(o.task);
  if (o.steps == 0) o.steps = facts.steps;
  if (o.batch == 0) o.batch = facts.batch;
  // --choice on the command line is about both: a config file's line about one of them gives way to it.
  if (o.given.contains("choice")) {
    if (o.configured.contains("operation-choice")) o.operation_choice.clear();
    if (o.configured.contains("argument-choice")) o.argument_choice.clear();
  }
  if (o.cooling > 0 && choice_of_operations(o) != "softmax" && choice_of_arguments(o) != "softmax")
    throw triad::data_error(
        "--temperature and --cooling are about --choice softmax; that of gumbel falls as the released program's: "
        "give --temperature 1 --cooling 0");
  if (o.cooling > o.updates)
    throw triad::data_error(
        "--cooling " + std::to_string(o.cooling) + " is longer than the run of --updates " + std::to_string(o.updates) +
        ", which would end with choices that are softer than those of an evaluation: give a smaller --cooling");
  if ((o.temperature > 1) != (o.cooling > 0))
    throw triad::data_error("--temperature above 1 and --cooling, the updates until it is 1, go together");
}

/// Every option of a training run with the value it has, as `tree-transforms train --config` reads it back.
inline std::string to_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.preset.empty()) toml.put("preset", o.preset);
  toml.put("task", o.task);
  if (!o.data.empty()) toml.put_path("data", o.data);
  toml.put("one-way", o.one_way)
      .put("rows", o.rows)
      .put("test-size", o.test_size)
      .put("data-seed", o.data_seed)
      .put("skip-deeper", o.skip_deeper);
  toml.put("model", o.model)
      .put("steps", o.steps)
      .put("depth", o.depth)
      .put("role-depth", o.role_depth)
      .put("layers", o.layers);
  toml.put("width", o.width).put("heads", o.heads).put("hidden-factor", o.hidden_factor).put("dropout", o.dropout);
  if (auto const both = choice_of_both(o); !both.empty())
    toml.put("choice", both);
  else
    toml.put("operation-choice", choice_of_operations(o)).put("argument-choice", choice_of_arguments(o));
  toml.put("interpreter", o.interpreter).put("role-seed", o.role_seed);
  toml.put("temperature", o.temperature).put("cooling", o.cooling);
  toml.put("updates", o.updates)
      .put("batch", o.batch)
      .put("learning-rate", o.rate)
      .put("weight-decay", o.decay)
      .put("beta1", o.beta1)
      .put("beta2", o.beta2);
  toml.put("warmup", o.warmup)
      .put("clip-norm", o.clip)
      .put("seed", o.seed)
      .put("seeds", o.seeds)
      .put("recompute", o.recompute);
  toml.put("train-sample", o.train_sample);
  toml.put("backend", o.backend).put("precision", o.arithmetic).put("threads", o.threads);
  return toml.text();
}

/// The lines of to_toml() that decide what a run computes: those of a resumed run must be the same.
inline std::string training_settings(options const& o) {
  std::set<std::string> names{"preset",       "data",    "test-size", "seeds",  "recompute",
                              "train-sample", "backend", "precision", "threads"};
  if (o.cooling == 0)
    names.insert({"temperature", "cooling"});  // nothing cools: the same run as one that did not know of it
  return triad::examples::toml_without(to_toml(o), names);
}

}  // namespace tree_transforms
