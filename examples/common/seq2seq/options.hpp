// What a run of a sequence-to-sequence program is told, whatever its data: text, model, training, search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "../attention_names.hpp"
#include "../memory_size.hpp"
#include "../toml.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/roberta.hpp"

namespace seq2seq {

/// The defaults are those of the preset small.
struct options {
  std::string program = "cognition";  // for people

  // text
  std::string source_dictionary,
      target_dictionary;               // files of lines `token count`; empty: the words of the training set
  std::string source_bpe, target_bpe;  // files of merges; empty: words stay whole
  std::string tokenise = "none";       // source, target, both: plain text, which is cut into words and marks
  int least_count = 1;                 // of a word of the training set, for the dictionary to have it
  bool joint = false;                  // one dictionary, and one table of vectors, for both sides
  int longest_training = 0;            // target tokens; longer pairs are left out of training; 0: none is
  int train_size = 0;                  // pairs, spread over the training set; 0: all

  // model
  std::string model = "lrf";  // lrf, transformer, universal-transformer, dlcl, edge-transformer
  std::string fuse = "both";  // of lrf, where layers read all earlier ones: source, target, both, none
  bool only_top = false, accumulate = false, relative = false;
  int encoder_layers = 3, decoder_layers = 3, width = 128, hidden = 256, heads = 4;
  double dropout = 0.1;
  bool tie_output = false;
  std::string norm = "after";  // of the sums, or before the blocks
  // of lrf and transformer: a folder of a published RoBERTa, whose encoder, in its own tokens, reads the sources;
  // empty: none
  std::string roberta;
  std::optional<triad::roberta_config> published;  // its shape, or that of a checkpoint made with one
  std::string published_weights;                   // a digest of its weights, where a run begins with them
  // of edge-transformer
  bool tied = true;         // one layer's parameters for all of a side
  bool positional = false;  // sums of positional vectors at both ends of an edge, instead of relative positions
  bool from_begin = false;  // a token is read from the edge (begin, i), not from (i, i)
  triad::triangle_form attention = triad::triangle_form::full;

  // training
  double smoothing = 0.1;
  double rate = 1e-3, decay = 0;
  std::string schedule = "inverse-sqrt";  // after the warm-up; or linear: down to 0 at the last update
  int warmup = 400;
  double clip = 1;
  int updates = 5000, epochs = 0;  // epochs: if not 0, instead of updates
  int tokens = 1024;               // of a batch, on either side
  int pairs = 0;                   // of a batch at most; 0: as many as the tokens allow
  int evaluate_every = 500;        // updates
  int dev_size = 200;
  std::string validate = "exact";  // match, or loss
  std::uint64_t seed = 1;
  int seeds = 1;
  bool recompute = false;
  std::string memory;  // a size: the batch of an update is cut into parts that fit; empty: it is never cut

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
  std::set<std::string> given, configured;  // names of options on the command line, and of others in the config file
};

/// Whether its states are of edges.
inline bool of_edges(options const& o) { return o.model == "edge-transformer"; }

/// The defaults that o.preset and o.model stand for.
///   paper   100,000 updates and 6 + 6 layers are in LRF's text.  512, 1024 and the tied output follow from the
///           parameters that its Table 1 counts.  The rest is ours, in the manner of fairseq; label smoothing too,
///           which the paper's equation 12 does not have.
///   small   ours
inline void apply_preset(options& o) {
  o.fuse = o.model == "lrf" ? "both" : "none";
  o.joint = of_edges(o);
  if (o.preset == "paper") {
    o.encoder_layers = o.decoder_layers = 6, o.width = 512, o.hidden = 1024, o.heads = 4, o.dropout = 0.3;
    o.rate = 5e-4, o.warmup = 4000, o.clip = 0, o.updates = 100000, o.tokens = 4096, o.evaluate_every = 2000,
    o.validate = "loss", o.beam = 5;
    o.tie_output = !of_edges(o);
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
  if (o.model != "lrf" && o.fuse != "none")
    refuse("--fuse " + o.fuse + " is about --model lrf; layers of --model " + o.model + " have no fuse-attention");
  if (!looks_back && (o.only_top || o.accumulate))
    refuse(
        "--only-top and --accumulate are about layers that look back: --model lrf with --fuse source, target or both");
  if (!of_edges(o) && (!o.tied || o.positional || o.from_begin || o.attention != triad::triangle_form::full))
    refuse("--untied, --positional, --from-begin and --attention are about --model edge-transformer");
  if (of_edges(o) && (o.relative || o.tie_output || o.norm != "after"))
    refuse(
        "--relative, --tie-output and --norm are about states of tokens, which --model edge-transformer does not have");
  if (of_edges(o) && o.encoder_layers != o.decoder_layers)
    refuse(
        "--model edge-transformer has as many layers on either side: give --encoder-layers and --decoder-layers alike");
  if (of_edges(o) && o.attention == triad::triangle_form::flat)
    refuse("--attention flat is not causal: an Edge Transformer that decodes has no such form");
  if (of_edges(o) && !o.joint)
    refuse("--model edge-transformer has one table for the words of both sides: leave --joined-dictionary on");
  if (o.joint && (!o.target_dictionary.empty() || !o.target_bpe.empty()))
    refuse("with one dictionary for both sides, --source-dictionary and --source-bpe name the files of both");
  if (o.joint && o.tokenise != "none" && o.tokenise != "both")
    refuse("--joined-dictionary is one dictionary for both sides: give --tokenise both");
  if (!o.roberta.empty() && o.tokenise != "none" && o.tokenise != "target")
    refuse("--roberta cuts sources itself: give --tokenise target, or leave it out");
  if (!o.roberta.empty()) {
    if (o.model != "lrf" && o.model != "transformer")
      refuse("--roberta is an encoder of --model lrf or transformer, not of " + o.model);
    if (o.joint || !o.source_dictionary.empty() || !o.source_bpe.empty())
      refuse("--roberta brings its own tokens: leave --joined-dictionary, --source-dictionary and --source-bpe out");
    if (o.given.contains("encoder-layers"))
      refuse("--roberta has as many layers as its config.json says: leave --encoder-layers out");
    if (o.relative || o.norm != "after")
      refuse("--relative and --norm are not RoBERTa's: leave them out beside --roberta");
    if (o.accumulate && o.fuse != "target")
      refuse(
          "--accumulate adds layers up, which the layers of --roberta were not trained with: give --fuse target beside "
          "it");
  }
  if (o.only_top && o.accumulate) refuse("--only-top and --accumulate are two ways to look back: give one");
  if (!o.memory.empty()) (void)triad::examples::bytes_of(o.memory, "--memory");
  if (o.width % o.heads != 0)
    refuse("--width " + std::to_string(o.width) + " is no multiple of --heads " + std::to_string(o.heads));
}

/// Every option of a training run with the value it has, as `train --config` reads it back.
inline std::string to_toml(options const& o) {
  triad::examples::toml_writer toml;
  if (!o.preset.empty()) toml.put("preset", o.preset);
  for (auto const& [name, path] : {std::pair("source-dictionary", &o.source_dictionary),
                                   {"target-dictionary", &o.target_dictionary},
                                   {"source-bpe", &o.source_bpe},
                                   {"target-bpe", &o.target_bpe},
                                   {"roberta", &o.roberta}})
    if (!path->empty()) toml.put_path(name, *path);
  if (o.tokenise != "none") toml.put("tokenise", o.tokenise);
  toml.put("min-count", o.least_count)
      .put("joined-dictionary", o.joint)
      .put("max-train-length", o.longest_training)
      .put("train-size", o.train_size);
  toml.put("model", o.model)
      .put("fuse", o.fuse)
      .put("only-top", o.only_top)
      .put("accumulate", o.accumulate)
      .put("relative", o.relative);
  toml.put("encoder-layers", o.encoder_layers)
      .put("decoder-layers", o.decoder_layers)
      .put("width", o.width)
      .put("hidden", o.hidden);
  toml.put("heads", o.heads).put("dropout", o.dropout).put("tie-output", o.tie_output).put("norm", o.norm);
  toml.put("tied", o.tied).put("positional", o.positional).put("from-begin", o.from_begin);
  toml.put("attention", triad::examples::attention_name(o.attention));
  toml.put("label-smoothing", o.smoothing)
      .put("learning-rate", o.rate)
      .put("weight-decay", o.decay)
      .put("schedule", o.schedule)
      .put("warmup", o.warmup)
      .put("clip-norm", o.clip);
  toml.put("updates", o.updates)
      .put("epochs", o.epochs)
      .put("tokens", o.tokens)
      .put("pairs", o.pairs)
      .put("evaluate-every", o.evaluate_every);
  toml.put("dev-size", o.dev_size)
      .put("validate", o.validate)
      .put("seed", o.seed)
      .put("seeds", o.seeds)
      .put("recompute", o.recompute);
  toml.put("beam", o.beam)
      .put("length-penalty", o.length_penalty)
      .put("max-length-factor", o.longest_factor)
      .put("max-length", o.longest);
  if (!o.memory.empty()) toml.put("memory", o.memory);
  toml.put("backend", o.backend).put("precision", o.arithmetic).put("threads", o.threads);
  return toml.text();
}

/// Names of to_toml() that do not decide what training computes; a resumed run may have others.  memory is one of them:
/// a run may go on where there is less.  Parts of a batch round otherwise than the whole and draw dropout anew, as
/// another backend or another draw would.  How long a run is decides the rates of a linear schedule.
inline std::set<std::string> free_settings(options const& o) {
  std::set<std::string> names{"preset",
                              "source-dictionary",
                              "target-dictionary",
                              "source-bpe",
                              "target-bpe",
                              "roberta",
                              "updates",
                              "epochs",
                              "dev-size",
                              "seeds",
                              "recompute",
                              "memory",
                              "beam",
                              "length-penalty",
                              "max-length-factor",
                              "max-length",
                              "backend",
                              "precision",
                              "threads"};
  if (o.schedule == "linear") names.erase("updates"), names.erase("epochs");
  return names;
}

}  // namespace seq2seq
