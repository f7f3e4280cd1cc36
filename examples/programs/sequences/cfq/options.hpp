// The options for the data of cfq-sequences, in addition to the options of all sequence-to-sequence programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sequences/options.hpp"

namespace triad::programs::cfq_sequences {

struct options : sequences::options {
  // data: a folder with train, dev and test .tsv, or CFQ's dataset.json; empty: generated questions
  std::string split;              // dataset.json: a file of a split, or its name in splits/
  bool sort_conjuncts = false;    // sorts the conjuncts of all queries
  int questions_made = 8000;      // number of generated questions; half of them are used
  std::uint64_t data_seed = 1;    // seed of generated questions and of their split
  std::string task = "semantic";  // "semantic": the task is to translate a question to a query
  bool one_task = true;           // false: the program has several tasks, and --task names one

  options() {
    other_names = {"cfq"};
    for (auto const* more : {"paper-semantic", "small-semantic", "roberta"}) presets.emplace_back(more);
  }
  void settle() override {
    if (preset == "roberta" && encoder.empty() && roberta.empty())
      throw data_error("--preset roberta needs --encoder FOLDER, the pre-trained encoder");
    sequences::options::settle();
  }
  void each(option_list& f) override {
    std::set<std::string> const asked{"evaluate", "explain"};
    f("data", &data,
      "Folder with train, dev and test .tsv, question and query in columns, or CFQ's dataset.json; without it, "
      "generated questions")
        .also(asked)
        .path();
    auto& s =
        f("split", &split, "Of dataset.json: a file such as splits/mcd1.json, or its name, mcd1").also(asked).free();
    if (std::filesystem::is_regular_file(split)) s.path();
    f.seldom("sort-conjuncts", &sort_conjuncts, "Queries have their conjuncts in one order, that of bytes")
        .also(asked)
        .newer();
    f("questions", &questions_made, "Generated ones; two fifths are for training, a tenth for dev and test")
        .also(asked)
        .between(50, 1000000)
        .written(data.empty());
    f.seldom("data-seed", &data_seed, "Of generated questions and their split").also(asked).written(data.empty());
    auto& t = f("task", &task,
                "semantic, this task: from question to query; parse: to its dependencies, with options of its own: cfq "
                "VERB --task parse --help")
                  .also(asked)
                  .one_of({"semantic", "parse"});
    if (one_task) t.one_of({"semantic"}).hidden();
    sequences::options::each(f);
  }
};

/// Sets the defaults of o.preset.
///   roberta          The decoder's layers, width and feed-forward block and the 45,000 updates are from the LRF paper
///                    (section "Setup").  We chose the other settings: heads, rate, schedule, batch, dropout, smoothing
///                    and the longest training query.  For these, the paper refers to Zheng and Lapata (2022).
///   paper-semantic   Layers, width, heads, pairs, rate and epochs are from Table 1 of the Edge Transformer paper, for
///                    the Edge Transformer and the Universal Transformer.  The 50 tokens are in section 4.3, 4 d in
///                    section 3.  Dropout, warm-up, decay and clip are those of the released program.  All other models
///                    have the settings of the Universal Transformer, because the paper does not have them.
///   small-semantic   Our own settings.  An Edge Transformer makes five epochs in two hours with two threads.  Batches
///                    are small, so that few epochs have enough updates.
inline void apply_preset(options& o) {
  sequences::apply_preset(o);
  if (o.preset == "smoke") {
    o.questions_made = 200;
    o.tokens = 256;
  }
  if (o.preset == "roberta") {
    o.decoder_layers = 2;
    o.width = 256;
    o.hidden = 512;
    o.heads = 4;
    o.dropout = 0.1;
    o.pairs = 64;
    o.tokens = 64 * 128;
    o.longest_training = 100;
    o.recompute = true;
    o.memory = "8GiB";
    o.rate = 1e-4;
    o.schedule = "linear";
    o.warmup = 4000;
    o.clip = 1;
    o.updates = 45000;
    o.evaluate_every = 1000;
  }
  if (o.preset != "paper-semantic" && o.preset != "small-semantic") return;
  bool const small = o.preset == "small-semantic";
  o.encoder_layers = o.decoder_layers = !small && sequences::of_edges(o) ? 6 : 4;
  o.width = small ? 128 : 256;
  o.hidden = 4 * o.width;
  o.heads = small ? 4 : 8;
  o.dropout = 0.1;
  o.pairs = small ? 16 : 64;
  o.tokens = 64 * 128;
  o.longest_training = 50;
  o.smoothing = 0;
  o.rate = 6e-4;
  o.decay = 0;
  o.schedule = "linear";
  o.warmup = 1000;
  o.clip = 100;
  o.epochs = small ? 5 : 100;
  o.evaluate_every = 500;
  if (small) o.train_size = 20000;
}

}  // namespace triad::programs::cfq_sequences
