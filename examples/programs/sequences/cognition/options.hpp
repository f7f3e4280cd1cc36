// The options for the data of cognition, in addition to the options of all sequence-to-sequence programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sequences/data.hpp"
#include "sequences/options.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/data_folder.hpp"

namespace triad::programs::cognition {

struct options : sequences::options {
  // data: a folder or a file; empty: generated sentences
  std::string task = "pairs";      // kind of data: cognition, scan, cogs, pairs
  std::string split = "length";    // scan: tasks_train_SPLIT.txt
  int length_cutoff = 0;           // scan: most actions of a pair that is not in `longer`; 0: no limit
  std::string train_on = "train";  // cognition: train, or valid+test
  std::string test;                // pairs: a file to test on, if --data is a file
  int sentences = 2000;            // number of generated training sentences
  int test_size = 200;             // number of generated sentences of each other part and kind
  std::uint64_t data_seed = 1;     // seed of generated sentences
  bool translation = false;        // generate: the translation task
  std::vector<std::string> with;   // compounds: more runs

  options() { presets.insert(presets.end(), {"cogs", "cogs-published"}); }
  /// If the folder of CoGnition has merges, and the two languages do not share a dictionary, sets --target-bpe to these
  /// merges.
  void settle() override {
    if (task == "cognition" && !data.empty() && !joint && target_bpe.empty() && target_dictionary.empty()) {
      target_bpe = find_file(data, {"bpe/code"});
      if (!target_bpe.empty()) say("Chinese words are cut into parts by {}\n", target_bpe);
    }
    sequences::options::settle();
  }
  void each(option_list& f) override {
    std::set<std::string> const asked{"evaluate", "explain"};
    f("data", &data, "Folder of a data set, or a file of pairs; without it, generated commands")
        .also(asked)
        .also({"compounds"})
        .path();
    f("task", &task, "What --data has: cognition, scan, cogs (sentence to logical form), pairs")
        .also(asked)
        .also({"compounds"})
        .one_of({"cognition", "scan", "cogs", "pairs"});
    f("split", &split, "Of scan, as its files call it: length, simple, addprim_jump, mcd1, ...").also(asked);
    f.seldom(
         "length-cutoff", &length_cutoff,
         "Of scan: train and test on at most this many actions, and test `longer` on all others of both files; 0: any")
        .also(asked)
        .not_negative()
        .newer();
    f("train-on", &train_on,
      "Of cognition: train, as in the paper; or valid+test, a smaller task that is not the paper's")
        .also(asked)
        .one_of({"train", "valid+test"});
    f("test", &test, "Of pairs: a file to test on, where --data is a file").also(asked).existing_file().path();
    f("sentences", &sentences, "Generated commands to train on").also(asked).positive();
    f.seldom("test-size", &test_size, "Generated commands of each part and kind").also(asked).positive().free();
    f.seldom("data-seed", &data_seed, "Of generated commands").also(asked);
    sequences::options::each(f);
    f("run", &run, "A run's folder, which has cg-test.hypotheses.txt").only({"compounds"}).positional().required();
    f("with", &with, "More folders of runs, to compare with").only({"compounds"});
    f("out", &out, "Folder for compounds.csv, compound_length.svg, sentence_length.svg and modifiers.svg")
        .only({"compounds"})
        .file_or_folder();
    f.force(&force, {"compounds"});
    f("out", &out, "Folder of the new data set").only({"generate"}).required().file_or_folder();
    f("translation", &translation, "Sentences and translations in the files and sizes of CoGnition, not commands")
        .only({"generate"});
    f("sentences", &sentences, "Training commands; with --translation 200000 sentences, unless given")
        .only({"generate"})
        .positive();
    f("test-size", &test_size, "Commands of each other part and kind; with --translation 10000 sentences, unless given")
        .only({"generate"})
        .positive();
    f("data-seed", &data_seed, "Of the commands or sentences").only({"generate"});
  }
};

/// Sets the defaults of o.preset and o.model.
///   cogs             our settings for COGS as sequences, chosen with --model transformer
///   cogs-published   the settings of R. Csordas and others (The Devil is in the Detail, 2021) for a plain Transformer
///                    (--model transformer), from their published program: sweeps/cogs_trafo.yaml, variant scaledinit,
///                    of the profile cogs_trafo_small.  README.md lists what differs.
inline void apply_preset(options& o) {
  sequences::apply_preset(o);
  if (o.preset == "cogs" || o.preset == "cogs-published") {
    o.task = "cogs";
    o.encoder_layers = o.decoder_layers = 2;
    o.joint = o.tie_output = true;
    o.smoothing = 0;
  }
  if (o.preset == "cogs-published") {
    o.width = o.hidden = 512;
    o.embedding_scale = "positions-down";
    o.rate = 1e-4, o.warmup = 0, o.schedule = "constant", o.updates = 50000, o.pairs = 128, o.tokens = 40000,
    o.evaluate_every = 5000;
  }
  if (o.preset == "cogs") {
    o.norm = "before";
    o.relative = o.share_embedding = true;
    o.rate = 2e-3, o.schedule = "linear", o.epochs = 60, o.tokens = 4096, o.evaluate_every = 1500;
  }
  if (o.preset == "smoke") {
    o.sentences = 40;
    o.test_size = 5;
  }
}

}  // namespace triad::programs::cognition
