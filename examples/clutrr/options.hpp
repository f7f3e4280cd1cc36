// What a run of the CLUTRR program is told: presets, model, training, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "triad/ops/triangle.hpp"

namespace clutrr {

struct options {
  // data
  std::string data;                       // a CSV file or a data set folder; empty: generated chains
  std::vector<int> train_lengths{2, 3, 4};  // generated chains: k of the training data
  int test_size = 1000;                   // generated chains for each k of the test
  double validation = 0.2;                // part of a training file that is held out
  bool shuffle = false;                   // another order in every epoch

  // model
  std::string model = "edge-transformer";  // edge-transformer, rat, rrat
  triad::triangle_form attention = triad::triangle_form::full;
  bool paper_form = false;  // the paper's layer instead of the released program's
  int layers = 8, width = 200, heads = 4, hidden_factor = 4;
  bool untied = false;
  double dropout = 0.2;

  // training
  int epochs = 50;
  std::int64_t chains = 0;  // generated: how many in all, in `epochs` equal parts
  int batch = 400;
  double rate = 1e-3;
  int warmup = 100;
  double clip = 1.0;
  std::uint64_t seed = 1;
  int seeds = 1;
  bool recompute = false;  // keep layer inputs only, run layers again in backward

  // the run
  std::string backend = "cpu";
  int threads = 0;  // 0: all
  std::string out;
  bool resume = false;
  std::string preset;
  std::string compare;  // another model, trained as long
};

/// The defaults that o.preset and o.model stand for.  paper-k234 and paper-k23 are one setting; the data differ.
inline void apply_preset(options& o) {
  if (o.preset == "quickstart") {
    o.layers = 8, o.width = 64, o.heads = 4, o.dropout = 0, o.batch = 96, o.warmup = 0;
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

inline std::map<std::string, triad::triangle_form> const& attention_names() {
  static std::map<std::string, triad::triangle_form> const names{{"full", triad::triangle_form::full},
                                                                 {"value-ablation", triad::triangle_form::value_ablation},
                                                                 {"attention-ablation", triad::triangle_form::attention_ablation},
                                                                 {"both-ablations", triad::triangle_form::both_ablations},
                                                                 {"flat", triad::triangle_form::flat}};
  return names;
}

inline void add_data_options(CLI::App& app, options& o) {
  app.add_option("--data", o.data, "CLUTRR CSV file (.csv, .csv.gz) or data set folder; without it, generated chains");
  app.add_option("--test-size", o.test_size, "Generated chains for each k of the test")->check(CLI::PositiveNumber);
}

inline void add_run_options(CLI::App& app, options& o) {
  app.add_option("--threads", o.threads, "Threads; 0: one for each processor.  Results do not depend on it");
  app.add_option("--backend", o.backend, "cpu, or reference: plain loops, slow")->check(CLI::IsMember({"cpu", "reference"}));
}

/// Presets are applied when the command line is read: what is given beside one overrides it.
inline void add_train_options(CLI::App& app, options& o) {
  app.set_config("--config", "", "Read options from a TOML file, as a run's config.toml");
  app.add_option("--preset", o.preset, "quickstart, paper-k234, paper-k23, smoke")
      ->check(CLI::IsMember({"quickstart", "paper-k234", "paper-k23", "smoke"}));
  add_data_options(app, o);
  add_run_options(app, o);
  app.add_option("--train-lengths", o.train_lengths, "k of generated training chains")->delimiter(',');
  app.add_option("--validation", o.validation, "Part of a training file that is held out")->check(CLI::Range(0.0, 0.9));
  app.add_flag("--shuffle,!--no-shuffle", o.shuffle, "Another order in every epoch; else one random order for all, as the released program");
  app.add_option("--model", o.model, "edge-transformer, or the baselines rat and rrat")->check(CLI::IsMember({"edge-transformer", "rat", "rrat"}));
  app.add_option("--compare", o.compare, "Another model to train as long, for comparison")->check(CLI::IsMember({"", "rat", "rrat"}));
  app.add_option("--attention", o.attention, "full, value-ablation, attention-ablation, both-ablations, flat")
      ->transform(CLI::CheckedTransformer(attention_names()));
  app.add_flag("--paper-form", o.paper_form, "The layer of the paper's equation 3 instead of the released program's");
  app.add_flag("--untied", o.untied, "Parameters of its own for every layer");
  app.add_option("--layers", o.layers)->check(CLI::Range(1, 250));
  app.add_option("--width", o.width, "Hidden size")->check(CLI::PositiveNumber);
  app.add_option("--heads", o.heads)->check(CLI::PositiveNumber);
  app.add_option("--hidden-factor", o.hidden_factor, "Width of the feed-forward block over the hidden size")->check(CLI::PositiveNumber);
  app.add_option("--dropout", o.dropout)->check(CLI::Range(0.0, 0.95));
  app.add_option("--epochs", o.epochs)->check(CLI::PositiveNumber);
  app.add_option("--chains", o.chains, "Generated training chains in all")->check(CLI::PositiveNumber);
  app.add_option("--batch", o.batch, "Graphs in a batch")->check(CLI::PositiveNumber);
  app.add_option("--rate", o.rate, "Learning rate after warm-up; falls linearly to 0")->check(CLI::PositiveNumber);
  app.add_option("--warmup", o.warmup, "Updates of warm-up")->check(CLI::NonNegativeNumber);
  app.add_option("--clip", o.clip, "Largest norm of a gradient; 0: any")->check(CLI::NonNegativeNumber);
  app.add_option("--seed", o.seed);
  app.add_option("--seeds", o.seeds, "Runs with seed, seed + 1, ...")->check(CLI::PositiveNumber);
  app.add_flag("--recompute", o.recompute, "Run layers again in backward instead of keeping what they computed");
  app.add_option("--out", o.out, "Folder of the run: metrics.csv, config.toml, model.safetensors, plots/");
  app.add_flag("--resume", o.resume, "Go on from the folder's checkpoint");
}

}  // namespace clutrr
