// The options of all sequence-to-sequence programs: text, model, training and search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"
#include "shared/data/questions.hpp"
#include "triad/io/encoder.hpp"

namespace triad::programs::sequences {

/// The defaults are those of the preset small.
struct options : width_options {
  std::vector<std::string> presets{"paper", "small", "smoke"};

  // text
  /// Files with lines `token count`; empty: the words of the training set.
  std::string source_dictionary, target_dictionary;
  std::string source_bpe, target_bpe;  // files of merges; empty: words stay whole
  // Sides that are plain text, which is cut into words and marks: source, target, both, none.
  std::string tokenise = "none";
  int least_count = 1;       // least number of times that a word of a dictionary occurs
  bool joint = false;        // one dictionary for both sides
  int longest_training = 0;  // pairs with more target tokens are left out of training; 0: no pairs are
  int train_size = 0;        // number of training pairs, evenly spaced in the training set; 0: all

  // model
  // model: lrf, transformer, universal-transformer, dlcl, edge-transformer
  std::string fuse = "both";  // lrf: sides whose layers read all earlier layers: source, target, both, none
  bool only_top = false, accumulate = false, relative = false;
  int max_offset = 16;  // longest distance in tokens with its own relative position
  int encoder_layers = 3, decoder_layers = 3, hidden = 256;
  bool tie_output = false, share_embedding = false;
  std::string embedding_scale = "tokens-up";  // tokens-up, unscaled, positions-down: embedding_scale
  std::string norm = "after";                 // after: norms follow the sums; before: norms precede the blocks
  // For lrf and transformer: the folder of a published RoBERTa, BERT or MPNet, which becomes the encoder.  Sources are
  // cut into its tokens.  Empty: the encoder is not a published model.  settle() moves `roberta`, the older name, to
  // `encoder`.
  std::string encoder, roberta;
  std::optional<encoder_config> published;  // the sizes of the encoder, from its folder or from a checkpoint
  std::string published_weights;            // a digest of the published weights
  bool freeze_encoder = false;              // the published encoder is not trained
  std::string encoder_cache = "8GiB";       // memory size: of the states of the frozen encoder that are kept
  // of edge-transformer
  bool tied = true;         // all layers of a side share one layer's parameters
  bool positional = false;  // adds positional vectors of both ends of an edge, not relative positions
  bool from_begin = false;  // reads a token's state from the edge (begin, i), not from (i, i)
  triangle_form attention = triangle_form::full;

  // training
  double smoothing = 0.1;
  double decay = 0;
  // Schedule of the rate after the warm-up.  With "linear", the rate reaches 0 at the last update.
  std::string schedule = "inverse-sqrt";
  int updates = 5000, epochs = 0;  // if epochs is not 0, it replaces updates
  int tokens = 1024;               // largest number of tokens in a batch, on each side
  int pairs = 0;                   // largest number of pairs in a batch; 0: only the tokens limit it
  int evaluate_every = 500;        // updates between two checkpoints
  int dev_size = 200;              // number of pairs that a checkpoint is validated on
  std::string validate = "exact";  // exact: by exact match; loss: by loss
  std::string memory;              // memory size: batches are cut into parts that fit; empty: batches are not cut

  // search
  int beam = 1;
  double length_penalty = 1, longest_factor = 0;
  int longest = 0;  // longest translation; 0: three times the longest training target, plus ten

  // questions to a trained model
  std::string sentence;           // predict, explain
  programs::questions questions;  // predict
  int n_best = 1;
  bool unknown = false;        // predict: replaces unknown words by <unk>
  bool probabilities = false;  // predict
  int count = 200;             // explain: number of pairs

  options() { model = "lrf", width = 128, heads = 4, dropout = 0.1, warmup = 400; }
  void settle() override;
  void each(option_list& f) override;
  void restored(checkpoint const& file) override;
  std::map<std::string, std::string> more_shapes() const override;
  std::string more_settings() const override;
};

/// Throws data_error if the command line has a search option that has no effect with beam o.beam.
void expect_search(options const& o);

/// Returns whether the model has a state for each edge.  An edge is a pair of tokens.
inline bool of_edges(options const& o) { return o.model == "edge-transformer"; }

/// Sets the defaults of o.preset and o.model.
///   paper   100,000 updates and 6 + 6 layers are in the LRF paper.  The widths 512 and 1024 and the tied output follow
///           from the numbers of parameters in its Table 1.  We chose all other settings after those of fairseq.  One
///           of them is label smoothing, which is not in the paper's equation 12.
///   small   our own settings
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
