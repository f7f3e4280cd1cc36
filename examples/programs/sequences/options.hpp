// Options of every sequence-to-sequence program: text, model, training, search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"
#include "shared/data/questions.hpp"
#include "triad/io/roberta.hpp"

namespace triad::programs::sequences {

/// The defaults are those of the preset small.
struct options : width_options {
  std::vector<std::string> presets{"paper", "small", "smoke"};

  // text
  /// Files of lines `token count`; empty: the words of the training set.
  std::string source_dictionary, target_dictionary;
  std::string source_bpe, target_bpe;  // files of merges; empty: words stay whole
  std::string tokenise = "none";       // source, target, both: plain text, which is cut into words and marks
  int least_count = 1;                 // of a word of the training set, for the dictionary to have it
  bool joint = false;                  // one dictionary, and one table of vectors, for both sides
  int longest_training = 0;            // target tokens; longer pairs are left out of training; 0: none is
  int train_size = 0;                  // pairs, spread over the training set; 0: all

  // model
  // model: lrf, transformer, universal-transformer, dlcl, edge-transformer
  std::string fuse = "both";  // of lrf, where layers read all earlier ones: source, target, both, none
  bool only_top = false, accumulate = false, relative = false;
  int encoder_layers = 3, decoder_layers = 3, hidden = 256;
  bool tie_output = false;
  std::string norm = "after";  // of the sums, or before the blocks
  // of lrf and transformer: a folder of a published RoBERTa, whose encoder, in its own tokens, reads the sources;
  // empty: none
  std::string roberta;
  std::optional<roberta_config> published;  // its shape, or that of a checkpoint made with one
  std::string published_weights;            // a digest of its weights, where a run begins with them
  // of edge-transformer
  bool tied = true;         // one layer's parameters for all of a side
  bool positional = false;  // sums of positional vectors at both ends of an edge, instead of relative positions
  bool from_begin = false;  // a token is read from the edge (begin, i), not from (i, i)
  triangle_form attention = triangle_form::full;

  // training
  double smoothing = 0.1;
  double decay = 0;
  std::string schedule = "inverse-sqrt";  // after the warm-up; or linear: down to 0 at the last update
  int updates = 5000, epochs = 0;         // epochs: if not 0, instead of updates
  int tokens = 1024;                      // of a batch, on either side
  int pairs = 0;                          // of a batch at most; 0: as many as the tokens allow
  int evaluate_every = 500;               // updates
  int dev_size = 200;
  std::string validate = "exact";  // match, or loss
  std::string memory;              // a size: the batch of an update is cut into parts that fit; empty: it is never cut

  // search
  int beam = 1;
  double length_penalty = 1, longest_factor = 0;
  int longest = 0;  // 0: three times the longest target of the training set, and ten more

  // what a trained model is asked
  std::string sentence;           // predict, explain
  programs::questions questions;  // the same
  int n_best = 1;
  bool unknown = false;        // predict: unknown words become <unk>
  bool probabilities = false;  // predict
  int count = 200;             // explain: pairs

  options() { model = "lrf", width = 128, heads = 4, dropout = 0.1, warmup = 400; }
  void settle() override;
  void each(option_list& f) override;
  void restored(checkpoint const& file) override;
  std::map<std::string, std::string> more_shapes() const override;
  std::string more_settings() const override;
};

/// Throws data_error where options on the command line are about another search than the one that is made.
void expect_search(options const& o);

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
    o.encoder_layers = o.decoder_layers = 6;
    o.width = 512;
    o.hidden = 1024;
    o.heads = 4;
    o.dropout = 0.3;
    o.rate = 5e-4, o.warmup = 4000, o.clip = 0, o.updates = 100000, o.tokens = 4096, o.evaluate_every = 2000,
    o.validate = "loss", o.beam = 5;
    o.tie_output = !of_edges(o);
  }
  if (o.preset == "smoke") {
    o.encoder_layers = o.decoder_layers = 2;
    o.width = 16;
    o.hidden = 32;
    o.heads = 2;
    o.dropout = 0;
    o.warmup = 10;
    o.updates = 20;
    o.tokens = 64;
    o.evaluate_every = 10;
    o.dev_size = 4;
  }
}

}  // namespace triad::programs::sequences
