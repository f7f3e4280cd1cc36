// What a run of `cfq --task parse` is told: presets, model, training, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

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
  bool tied = false;
  int layers = 4, width = 128, heads = 4, hidden_factor = 4;
  double dropout = 0.1;

  // training
  int updates = 2000, evaluate_every = 200;
  int words = 500;     // of a batch
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
inline void apply_preset(options& o) {
  bool const universal = o.model == "universal-transformer";
  o.tied = universal;
  if (o.preset == "paper-dependency") {
    o.layers = universal ? 8 : 7, o.width = 360, o.words = o.model == "transformer" ? 1000 : 500;
    o.updates = 8000, o.evaluate_every = 500;
  }
  if (o.preset == "smoke") {
    o.layers = 1, o.width = 16, o.heads = 2, o.dropout = 0;
    o.words = 40, o.warmup = 0, o.updates = 20, o.evaluate_every = 10, o.dev_size = 4;
  }
}

/// Refuses what does not go together.
inline void check(options const& o) {
  if (o.width % o.heads != 0) throw triad::data_error("--width " + std::to_string(o.width) + " is no multiple of --heads " + std::to_string(o.heads));
  if (o.model != "edge-transformer" && o.tied != (o.model == "universal-transformer"))
    throw triad::data_error("a Transformer with --tied is --model universal-transformer, and that is always tied");
}

/// Every option of a training run with the value it has, as `cfq train --config` reads it back.
inline std::string to_toml(options const& o) {
  triad::examples::toml_writer toml;
  toml.put("task", o.task);
  if (!o.preset.empty()) toml.put("preset", o.preset);
  if (!o.data.empty()) toml.put_path("data", o.data);
  toml.put("least-count", o.least_count).put("model", o.model).put("tied", o.tied);
  toml.put("layers", o.layers).put("width", o.width).put("heads", o.heads).put("hidden-factor", o.hidden_factor).put("dropout", o.dropout);
  toml.put("updates", o.updates).put("evaluate-every", o.evaluate_every).put("words", o.words).put("dev-size", o.dev_size);
  toml.put("rate", o.rate).put("decay", o.decay).put("warmup", o.warmup).put("clip", o.clip);
  toml.put("seed", o.seed).put("seeds", o.seeds).put("recompute", o.recompute);
  toml.put("backend", o.backend).put("arithmetic", o.arithmetic).put("threads", o.threads);
  return toml.text();
}

/// The lines of to_toml() that decide what a run computes: those of a resumed run must be the same.
inline std::string training_settings(options const& o) {
  return triad::examples::toml_without(to_toml(o), {"preset", "data", "dev-size", "seeds", "recompute", "backend", "arithmetic", "threads"});
}

}  // namespace dependency
