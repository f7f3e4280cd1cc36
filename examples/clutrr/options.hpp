// What a run of the CLUTRR program is told: presets, model, training, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../common/attention_names.hpp"
#include "../common/toml.hpp"

namespace clutrr {

struct options {
  // data
  std::string data;                         // a CSV file or a data set folder; empty: generated chains
  std::vector<int> train_lengths{2, 3, 4};  // generated chains: k of the training data
  int test_size = 1000;                     // generated chains for each k of the test
  double validation = 0.2;                  // part of a training file that is held out
  bool shuffle = false;                     // another order in every epoch

  // model
  std::string model = "edge-transformer";  // edge-transformer, rat, rrat
  triad::triangle_form attention = triad::triangle_form::full;
  bool paper_form = false;  // the paper's layer instead of the released program's
  int layers = 8, width = 200, heads = 4, hidden_factor = 4;
  bool tied = true;
  double dropout = 0.2;

  // training
  int epochs = 50;
  std::int64_t chains = 100000;  // generated: how many in all, in `epochs` equal parts
  int batch = 400;
  double rate = 1e-3;
  int warmup = 100;
  double clip = 1.0;
  std::uint64_t seed = 1;
  int seeds = 1;
  bool recompute = false;  // keep layer inputs only, run layers again in backward

  // the run
  std::string backend = "cpu";
  std::string arithmetic = "float32";  // of products on a GPU: float32, tf32, bf16
  int threads = 0;                     // 0: all
  std::string out;
  bool resume = false;
  std::string preset, config;
  std::string compare;  // another model, trained as long
};

/// The defaults that o.preset and o.model stand for.
///   paper-k234, paper-k23   one setting; the data differ.  Layers, width, heads, batch, rate and epochs: the Edge
///                           Transformer paper's Table 1, also of rat and rrat; tied layers and 4 d: its section 3, of
///                           the Edge Transformer; dropout, warm-up, fall, clip and what is held out: the released
///                           program.  Whether rat and rrat are tied the paper does not say: ours are.
///   quickstart              ours
inline void apply_preset(options& o) {
  if (o.preset == "quickstart") {
    // There are few different short chains: dropout keeps the model from knowing them by heart, and the longest say
    // most.
    o.layers = 8, o.width = 64, o.heads = 4, o.batch = 96, o.warmup = 0;
    o.train_lengths = {2, 3, 4, 4, 4, 4};
    o.chains = 200000, o.epochs = 20;
    if (o.model == "edge-transformer") o.compare = "rat";
  } else if (o.preset == "smoke") {
    o.layers = 2, o.width = 16, o.heads = 2, o.dropout = 0, o.batch = 32, o.warmup = 0;
    o.chains = 640, o.epochs = 2, o.test_size = 20;
  } else {  // the paper's baselines
    if (o.model == "rat") o.width = 320, o.heads = 8, o.batch = 200;
    if (o.model == "rrat") o.layers = 6, o.width = 320, o.heads = 8, o.batch = 200;
  }
}

/// Every option of a training run with the value it has, as `clutrr train --config` reads it back.
inline std::string to_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.preset.empty()) toml.put("preset", o.preset);
  if (!o.data.empty()) toml.put_path("data", o.data);
  toml.put_list("train-lengths", o.train_lengths)
      .put("test-size", o.test_size)
      .put("validation", o.validation)
      .put("shuffle", o.shuffle);
  toml.put("model", o.model)
      .put("attention", triad::examples::attention_name(o.attention))
      .put("paper-form", o.paper_form);
  toml.put("layers", o.layers)
      .put("width", o.width)
      .put("heads", o.heads)
      .put("hidden-factor", o.hidden_factor)
      .put("tied", o.tied);
  toml.put("dropout", o.dropout)
      .put("epochs", o.epochs)
      .put("chains", o.chains)
      .put("batch", o.batch)
      .put("learning-rate", o.rate);
  toml.put("warmup", o.warmup)
      .put("clip-norm", o.clip)
      .put("seed", o.seed)
      .put("seeds", o.seeds)
      .put("recompute", o.recompute);
  toml.put("backend", o.backend).put("precision", o.arithmetic).put("threads", o.threads);
  if (!o.compare.empty()) toml.put("compare", o.compare);
  return toml.text();
}

/// The lines of to_toml() that decide what a run computes: those of a resumed run must be the same.
inline std::string training_settings(options const& o) {
  return triad::examples::toml_without(
      to_toml(o), {"preset", "data", "test-size", "seeds", "compare", "recompute", "backend", "precision", "threads"});
}

}  // namespace clutrr
