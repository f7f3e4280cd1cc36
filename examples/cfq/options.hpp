// What a run of the program is told of its data; the rest is what all sequence-to-sequence programs are told.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "../common/seq2seq/options.hpp"

namespace cfq {

struct options : seq2seq::options {
  options() { program = "cfq"; }

  std::string data;   // a folder with train, dev and test .tsv, or CFQ's dataset.json; empty: generated questions
  std::string split;  // of dataset.json: a file, or the name of one in splits/
  bool sort_conjuncts = false;    // of all queries
  int questions = 8000;           // generated, half of which are used
  std::uint64_t data_seed = 1;    // of generated questions and their split
  std::string task = "semantic";  // from question to query
};

/// roberta          the decoder's layers, width and feed-forward block and 45,000 updates are LRF's (section "Setup");
///                  its heads, rate, schedule, batch, dropout, smoothing and the longest query of training are ours:
///                  the paper does not give them
/// paper-semantic   layers, width, heads, pairs, rate and epochs are the Edge Transformer paper's Table 1, of it and of
///                  the Universal Transformer; 50 tokens are in section 4.3, 4 d in section 3.  Dropout, warm-up, fall
///                  and clip are the released program's.  The paper has no row for other models: they get the Universal
///                  Transformer's.
/// small-semantic   ours: five passes are what the Edge Transformer makes in two hours of two threads; small batches,
///                  since in few passes the number of updates counts
inline void apply_preset(options& o) {
  seq2seq::apply_preset(o);
  if (o.preset == "smoke") o.questions = 200, o.tokens = 256;
  if (o.preset == "roberta") {
    o.decoder_layers = 2, o.width = 256, o.hidden = 512, o.heads = 4, o.dropout = 0.1;
    o.pairs = 64, o.tokens = 64 * 128, o.longest_training = 100, o.recompute = true, o.memory = "8GiB";
    o.rate = 1e-4, o.schedule = "linear", o.warmup = 4000, o.clip = 1, o.updates = 45000, o.evaluate_every = 1000;
  }
  if (o.preset != "paper-semantic" && o.preset != "small-semantic") return;
  bool const small = o.preset == "small-semantic";
  o.encoder_layers = o.decoder_layers = !small && seq2seq::of_edges(o) ? 6 : 4;
  o.width = small ? 128 : 256, o.hidden = 4 * o.width, o.heads = small ? 4 : 8, o.dropout = 0.1;
  o.pairs = small ? 16 : 64, o.tokens = 64 * 128, o.longest_training = 50;
  o.smoothing = 0, o.rate = 6e-4, o.decay = 0, o.schedule = "linear", o.warmup = 1000, o.clip = 100;
  o.epochs = small ? 5 : 100, o.evaluate_every = 500;
  if (small) o.train_size = 20000;
}

/// The program's own options, as `train --config` reads them back.
inline std::string data_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.data.empty()) toml.put_path("data", o.data);
  if (std::filesystem::is_regular_file(o.split))
    toml.put_path("split", o.split);
  else if (!o.split.empty())
    toml.put("split", o.split);
  if (o.data.empty()) toml.put("questions", o.questions).put("data-seed", o.data_seed);
  if (o.sort_conjuncts) toml.put("sort-conjuncts", true);
  return toml.put("task", o.task).text();
}

/// What decides which pairs there are, beside where they lie.
inline std::string data_settings(options const& o) {
  triad::examples::toml_writer toml;
  if (o.data.empty()) toml.put("questions", o.questions).put("data-seed", o.data_seed);
  if (o.sort_conjuncts) toml.put("sort-conjuncts", true);
  return toml.text();
}

}  // namespace cfq
