// What a run of `cfq --task parse` is told: presets, model, training, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "../../common/attention_names.hpp"
#include "../../common/toml.hpp"
#include "triad/core/errors.hpp"

namespace dependency {

/// The defaults are those of the preset small-dependency.
struct options {
  std::string task = "parse";

  // data
  std::string data;     // a folder with train, dev and test .conllu
  int least_count = 1;  // of a word of the training set, for the dictionary to have it

  // model
  std::string model = "edge-transformer";  // edge-transformer, transformer, universal-transformer
  triad::triangle_form attention = triad::triangle_form::full;
  bool tied = false;
  int layers = 4, width = 128, heads = 4, hidden_factor = 4;
  double dropout = 0.1;

  // training
  int updates = 2000, evaluate_every = 200;
  int tokens = 500;    // words of a batch
  int dev_size = 500;  // sentences
  double rate = 1e-3, decay = 0;
  int warmup = 200;
  double clip = 1.0;
  std::uint64_t seed = 1;
  int seeds = 1;
  bool recompute = false;

  // the run
  std::string backend = "cpu";
  std::string arithmetic = "float32";  // of products on a GPU: float32, tf32, bf16
  int threads = 0;                     // 0: all
  std::string out;
  bool resume = false;
  std::string preset, config;
};

/// The defaults that o.preset and o.model stand for.
///   paper-dependency   layers, width, heads, words, rate and updates: the Edge Transformer paper's Table 1; its layers
///                      are tied and their feed-forward block has 4 d (section 3).  Dropout, warm-up, the linear fall,
///                      the clip and the other models' feed-forward width are ours: the paper does not say.
///   small-dependency   ours.  Its Edge Transformer is not tied: a tied one parsed worse at this size
///                      (docs/results.md).
inline void apply_preset(options& o) {
  bool const universal = o.model == "universal-transformer", paper = o.preset == "paper-dependency";
  o.tied = universal || (paper && o.model == "edge-transformer");
  if (paper) {
    o.layers = universal ? 8 : 7, o.width = 360, o.heads = 4, o.tokens = o.model == "transformer" ? 1000 : 500;
    o.rate = 1e-3, o.updates = 8000, o.evaluate_every = 500;
  }
  if (o.preset == "smoke") {
    o.layers = 1, o.width = 16, o.heads = 2, o.dropout = 0;
    o.tokens = 40, o.warmup = 0, o.updates = 20, o.evaluate_every = 10, o.dev_size = 4;
  }
}

/// Refuses what does not go together.
inline void check(options const& o) {
  if (o.width % o.heads != 0)
    throw triad::data_error("--width " + std::to_string(o.width) + " is no multiple of --heads " +
                            std::to_string(o.heads));
  if (o.model != "edge-transformer" && o.attention != triad::triangle_form::full)
    throw triad::data_error("--attention is about the states of edges, which --model " + o.model + " does not have");
  if (o.model != "edge-transformer" && o.tied != (o.model == "universal-transformer"))
    throw triad::data_error("a Transformer with --tied is --model universal-transformer, and that is always tied");
}

/// Every option of a training run with the value it has, as `cfq train --config` reads it back.
inline std::string to_toml(options const& o) {
  triad::examples::toml_writer toml;
  toml.put("task", o.task);
  if (!o.preset.empty()) toml.put("preset", o.preset);
  if (!o.data.empty()) toml.put_path("data", o.data);
  toml.put("min-count", o.least_count).put("model", o.model);
  toml.put("attention", triad::examples::attention_name(o.attention)).put("tied", o.tied);
  toml.put("layers", o.layers)
      .put("width", o.width)
      .put("heads", o.heads)
      .put("hidden-factor", o.hidden_factor)
      .put("dropout", o.dropout);
  toml.put("updates", o.updates)
      .put("evaluate-every", o.evaluate_every)
      .put("tokens", o.tokens)
      .put("dev-size", o.dev_size);
  toml.put("learning-rate", o.rate).put("weight-decay", o.decay).put("warmup", o.warmup).put("clip-norm", o.clip);
  toml.put("seed", o.seed).put("seeds", o.seeds).put("recompute", o.recompute);
  toml.put("backend", o.backend).put("precision", o.arithmetic).put("threads", o.threads);
  return toml.text();
}

/// The lines of to_toml() that decide what a run computes: those of a resumed run must be the same.
inline std::string training_settings(options const& o) {
  std::set<std::string> names{"preset", "data", "dev-size", "seeds", "recompute", "backend", "precision", "threads"};
  if (o.attention == triad::triangle_form::full) names.insert("attention");  // as in a run that did not know of it
  return triad::examples::toml_without(to_toml(o), names);
}

}  // namespace dependency
