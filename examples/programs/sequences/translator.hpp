// The interface of a sequence-to-sequence model on one backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "attention_maps.hpp"
#include "options.hpp"
#include "shared/backend/network.hpp"
#include "shared/run/learner.hpp"
#include "triad/batches/edge_pair_batch.hpp"
#include "triad/batches/pair_batch.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/decoding/beam_search.hpp"
#include "triad/io/text/dictionary.hpp"

namespace triad {
inline auto tied_parts(hypothesis& h) { return std::tie(h.tokens, h.score, h.log_probability); }
}  // namespace triad

namespace triad::programs::sequences {

/// The settings of the search for translations.
struct search {
  int beam = 1;               // 1: greedy search
  double length_penalty = 1;  // the score is log P / (tokens + 1)^length_penalty
  int n_best = 1;             // number of translations to return, at most beam
  double longest_factor = 0;  // n source tokens give at most longest_factor n + longest tokens
  index_t longest = 200;
};

/// The weights with which each layer reads each earlier layer, as means over tokens and heads.  Layer i + 1 reads the
/// output of layer j with weight [i][j].  Layer 0 is the embedding.  The weights of each layer add up to 1.  If a side
/// has no fuse-attention, its list is empty.
struct layer_weights {
  std::vector<std::vector<double>> encoder, decoder;
};

/// The weights of each token and head of a batch, without means.  Layer k has (tokens, heads, k) weights.  A layer
/// without fuse-attention has no weights.
struct layer_reads {
  std::vector<std::vector<float>> encoder, decoder;
};

/// The number of bytes of the states of some sources, and the largest number of bytes that is kept.
struct state_memory {
  std::size_t needed = 0, limit = 0;
};

/// The purpose of a model: to learn, to translate, or to report with which weights its layers read earlier layers.
enum class use { learning, translating, explaining };

/// Sizes of a model and of its batches.  The memory is enough for a batch of `tokens` tokens on each side, for a single
/// sequence of the longest length, and for a search that translates `sentences` sentences at once.
struct translator_options {
  index_t source_words, target_words;      // sizes of the dictionaries, including special tokens
  index_t tokens;                          // largest number of rows in a batch, on each side
  index_t pairs;                           // largest number of pairs in a batch; 0: only the tokens limit it
  index_t longest_source, longest_target;  // rows of one sequence: its tokens and one end token
  index_t longest_given;                   // rows of the longest target in a batch of pairs
  index_t sentences;                       // number of sentences that are translated at once; 0: no search
  use what;
  index_t source_end = text::dictionary::end;  // the token after the last one of a source

  /// The largest number of pairs in a batch.  A sequence has at least two rows: one token and the end token.
  index_t most_pairs() const {
    return std::max<index_t>({1, pairs > 0 ? std::min(pairs, tokens / 2) : tokens / 2, sentences});
  }
  pair_dims capacity() const {
    return {most_pairs(), std::max(tokens, longest_source), std::max(tokens, longest_target), longest_source,
            longest_target};
  }
  /// The capacity of a model of edges.  Its numbers of edges and triangles are those of a batch of the longest pairs.
  edge_pair_dims edge_capacity() const {
    auto const of = [&](index_t rows, index_t n) {
      auto const nodes = std::min(std::max(rows, n), most_pairs() * n);
      return graph_dims{most_pairs(), nodes * n, nodes, nodes * n * n, n};
    };
    if (what == use::translating) {  // batches have only sources
      auto const sources = of(sentences * longest_source, longest_source);
      return {most_pairs(), sources, sources, 0};
    }
    index_t const read = std::max(tokens, longest_source), given = std::max(tokens, longest_given);
    return {most_pairs(), of(read, longest_source), of(read + given, longest_source + longest_given), given};
  }
};

struct vocabulary;

inline auto tied_parts(layer_weights& w) { return std::tie(w.encoder, w.decoder); }
inline auto tied_parts(layer_reads& r) { return std::tie(r.encoder, r.decoder); }

class translator : public learner {
 public:
  using options = sequences::options;
  using vocabulary = sequences::vocabulary;
  using room = translator_options;

  // To use a batch: clear it, add pairs or only sources, then call one of the functions below.  The arguments are token
  // numbers, without the begin token and the end token.
  virtual void clear() = 0;
  /// Adds a pair to the batch.  Returns false if the batch has no memory left for the pair.
  virtual bool add(std::span<index_t const> source, std::span<index_t const> target) = 0;
  virtual bool add(std::span<index_t const> source) = 0;

  /// The largest number of tokens in a batch, on each side.
  virtual index_t tokens() const = 0;
  /// The memory of the states of a number of source tokens after a frozen encoder, counting end tokens.
  virtual state_memory states_of(index_t) const { return {}; }
  /// The number of training sources that a frozen encoder has read.
  virtual std::int64_t encoded_sources() const { return 0; }

  /// Returns the mean of -log probability over all target tokens of the batch, including end tokens, without dropout
  /// and label smoothing.
  virtual double loss() = 0;
  /// Returns the best translations for each source of the batch, the best one first.
  virtual std::vector<std::vector<hypothesis>> const& translate(search const& how) = 0;
  /// Returns the weights with which each layer reads each earlier layer, as means over the tokens and heads of the
  /// batch.
  virtual layer_weights read_weights() = 0;
  /// Returns the weights of each token and head. read_weights() must have been called before.
  virtual layer_reads reads() = 0;
  /// Returns the attention between the words of the batch, which must have one pair.
  virtual pair_attention attention() = 0;

  /// Makes the model that the options describe, and moves the backend into the model.  The source file of each backend
  /// calls this function.
  template <class Ex>
  static std::unique_ptr<translator> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::sequences
