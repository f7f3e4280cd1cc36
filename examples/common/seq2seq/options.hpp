// What a run of a sequence-to-sequence program is told, whatever its data: text, model, training, search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "../memory_size.hpp"
#include "../toml.hpp"
#include "triad/core/errors.hpp"

namespace seq2seq {

/// The defaults are those of the preset small.
struct options {
  std::string program = "cognition";  // for people

  // text
  std::string source_dictionary, target_dictionary;  // files of lines `token count`; empty: the words of the training set
  std::string source_bpe, target_bpe;                // files of merges; empty: words stay whole
  int least_count = 1;                               // of a word of the training set, for the dictionary to have it
  int longest_training = 0;                          // target tokens; longer pairs are left out of training; 0: none is

  // model
  std::string model = "lrf";  // lrf, transformer, universal-transformer, dlcl
  std::string fuse = "both";  // of lrf, where layers read all earlier ones: source, target, both, none
  bool only_top = false, accumulate = false, relative = false;
  int encoder_layers = 3, decoder_layers = 3, width = 128, hidden = 256, heads = 4;
  double dropout = 0.1;
  bool tie_output = false;
  std::string norm = "after";  // of the sums, or before the blocks

  // training
  double smoothing = 0.1;
  double rate = 1e-3, decay = 0;
  int warmup = 400;
  double clip = 1;
  int updates = 5000, epochs = 0;  // epochs: if not 0, instead of updates
  int tokens = 1024;               // of a batch, on either side
  int evaluate_every = 500;        // updates
  int dev_size = 200;
  std::string validate = "exact";  // match, or loss
  std::uint64_t seed = 1;
  int seeds = 1;
  bool recompute = false;
  std::string memory;              // a size: the batch of an update is cut into parts that fit; empty: it is never cut

  // search
  int beam = 1;
  double length_penalty = 1, longest_factor = 0;
  int longest = 0;  // 0: three times the longest target of the training set, and ten more

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
  o.fuse = o.model == "lrf" ? "both" : "none";
  if (o.preset == "paper") {
    o.encoder_layers = o.decoder_layers = 6, o.width = 512, o.hidden = 1024, o.heads = 4, o.dropout = 0.3;
    o.rate = 5e-4, o.warmup = 4000, o.clip = 0, o.updates = 100000, o.tokens = 4096, o.evaluate_every = 2000, o.validate = "loss", o.beam = 5;
  }
  if (o.preset == "smoke") {
    o.encoder_layers = o.decoder_layers = 2, o.width = 16, o.hidden = 32, o.heads = 2, o.dropout = 0;
    o.warmup = 10, o.updates = 20, o.tokens = 64, o.evaluate_every = 10, o.dev_size = 4;
  }
}

/// Refuses what does not go together.
inline void check(options const& o) {
  auto const refuse = [](std::string const& what) { throw triad::data_error(what); };
  bool const looks_back = o.model == "lrf" && o.fuse != "none";
  if (o.model != "lrf" && o.fuse != "none") refuse("--fuse " + o.fuse + " is about --model lrf; layers of --model " + o.model + " have no fuse-attention");
  if (!looks_back && (o.only_top || o.accumulate))
    refuse("--only-top and --accumulate are about layers that look back: --model lrf with --fuse source, target or both");
  if (o.only_top && o.accumulate) refuse("--only-top and --accumulate are two ways to look back: give one");
  if (!o.memory.empty()) (void)triad::examples::bytes_of(o.memory, "--memory");
  if (o.width % o.heads != 0) refuse("--width " + std::to_string(o.width) + " is no multiple of --heads " + std::to_string(o.heads));
}

/// Every option of a training run with the value it has, as `train --config` reads it back.
inline std::string to_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.preset.empty()) toml.put("preset", o.preset);
  for (auto const& [name, path] : {std::pair("source-dictionary", &o.source_dictionary), {"target-dictionary", &o.target_dictionary},
                                   {"source-bpe", &o.source_bpe}, {"target-bpe", &o.target_bpe}})
    if (!path->empty()) toml.put_path(name, *path);
  toml.put("least-count", o.least_count).put("longest-training", o.longest_training);
  toml.put("model", o.model).put("fuse", o.fuse).put("only-top", o.only_top).put("accumulate", o.accumulate).put("relative", o.relative);
  toml.put("encoder-layers", o.encoder_layers).put("decoder-layers", o.decoder_layers).put("width", o.width).put("hidden", o.hidden);
  toml.put("heads", o.heads).put("dropout", o.dropout).put("tie-output", o.tie_output).put("norm", o.norm);
  toml.put("smoothing", o.smoothing).put("rate", o.rate).put("decay", o.decay).put("warmup", o.warmup).put("clip", o.clip);
  toml.put("updates", o.updates).put("epochs", o.epochs).put("tokens", o.tokens).put("evaluate-every", o.evaluate_every);
  toml.put("dev-size", o.dev_size).put("validate", o.validate).put("seed", o.seed).put("seeds", o.seeds).put("recompute", o.recompute);
  toml.put("beam", o.beam).put("length-penalty", o.length_penalty).put("longest-factor", o.longest_factor).put("longest", o.longest);
  if (!o.memory.empty()) toml.put("memory", o.memory);
  toml.put("backend", o.backend).put("arithmetic", o.arithmetic).put("threads", o.threads);
  return toml.text();
}

/// Names of to_toml() that do not decide what training computes; a resumed run may have others.  memory is one of them: a run may go on
/// where there is less.  Parts of a batch round otherwise than the whole and draw dropout anew, as another backend or another draw would.
inline std::set<std::string> free_settings() {
  return {"preset", "source-dictionary", "target-dictionary", "source-bpe", "target-bpe", "updates", "epochs", "dev-size", "seeds", "recompute", "memory",
          "beam", "length-penalty", "longest-factor", "longest", "backend", "arithmetic", "threads"};
}

}  // namespace seq2seq
