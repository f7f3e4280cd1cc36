// What a run of the COGS program is told: presets, model, training, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "../common/attention_names.hpp"
#include "../common/toml.hpp"

namespace cogs {

struct options {
  // data
  std::string data;             // a folder with train, dev, test and gen; empty: generated sentences
  std::string labels = "2020";  // of the generalisation set: as published, or as corrected in 2022
  int sentences = 4000;         // generated: for training
  int test_size = 200;          // generated: of each kind

  // model
  std::string model = "edge-transformer";  // edge-transformer, transformer, universal-transformer
  triad::triangle_form attention = triad::triangle_form::full;
  bool paper_form = false;   // the paper's layer instead of the released program's
  bool positional = false;   // sums of both ends' states, instead of relative positions
  bool from_parent = false;  // parents read from edges (parent, child), as in the paper
  bool learn_all = false;    // also the vector that the released program does not learn
  bool tied = false;
  int layers = 3, width = 64, heads = 4, hidden_factor = 4;
  double dropout = 0.1;

  // training
  int epochs = 200;
  int batch = 100;
  double rate = 5e-4, decay = 0.01;
  int warmup = 1000;
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

/// The defaults that o.preset and o.model stand for.  Without a preset they are the released program's: preset paper.
///   paper   layers, width, heads, batch, rate and epochs: the Edge Transformer paper's Table 1; 4 d: its section 3;
///           dropout, decay, warm-up and clip: the released program.  The paper's text ties the layers, the released
///           program does not.
///   small   ours
inline void apply_preset(options& o) {
  o.tied = o.model == "universal-transformer";
  if (o.preset == "small") o.epochs = 30, o.warmup = 100, o.rate = 1e-3;
  if (o.preset == "smoke") {
    o.layers = 1, o.width = 16, o.heads = 2, o.dropout = 0, o.batch = 20, o.warmup = 0;
    o.sentences = 100, o.epochs = 2, o.test_size = 5;
  }
}

/// Every option of a training run with the value it has, as `cogs train --config` reads it back.
inline std::string to_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.preset.empty()) toml.put("preset", o.preset);
  if (!o.data.empty()) toml.put_path("data", o.data);
  toml.put("labels", o.labels).put("sentences", o.sentences).put("test-size", o.test_size);
  toml.put("model", o.model)
      .put("attention", triad::examples::attention_name(o.attention))
      .put("paper-form", o.paper_form);
  toml.put("positional", o.positional)
      .put("from-parent", o.from_parent)
      .put("learn-all", o.learn_all)
      .put("tied", o.tied);
  toml.put("layers", o.layers)
      .put("width", o.width)
      .put("heads", o.heads)
      .put("hidden-factor", o.hidden_factor)
      .put("dropout", o.dropout);
  toml.put("epochs", o.epochs)
      .put("batch", o.batch)
      .put("learning-rate", o.rate)
      .put("weight-decay", o.decay)
      .put("warmup", o.warmup)
      .put("clip-norm", o.clip);
  toml.put("seed", o.seed).put("seeds", o.seeds).put("recompute", o.recompute);
  toml.put("backend", o.backend).put("precision", o.arithmetic).put("threads", o.threads);
  return toml.text();
}

/// The lines of to_toml() that decide what a run computes: those of a resumed run must be the same.
inline std::string training_settings(options const& o) {
  return triad::examples::toml_without(
      to_toml(o), {"preset", "data", "labels", "test-size", "seeds", "recompute", "backend", "precision", "threads"});
}

}  // namespace cogs
