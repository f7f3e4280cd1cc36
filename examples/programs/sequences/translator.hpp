// The interface of a sequence-to-sequence model on one backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "options.hpp"
#include "shared/backend/network.hpp"
#include "shared/run/learner.hpp"
#include "triad/batches/edge_pair_batch.hpp"
#include "triad/batches/pair_batch.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/decoding/beam_search.hpp"

namespace triad {
inline auto tied_parts(hypothesis& h) { return std::tie(h.tokens, h.score, h.log_probability); }
}  // namespace triad

namespace triad::programs::sequences {

/// The settings of the search for translations.
struct search {
  int beam = 1;               // 1: greedy
  double length_penalty = 1;  // the score is log P over (tokens + 1)^penalty
  int n_best = 1;             // at most beam
  double longest_factor = 0;  // of a source of n tokens no translation has more than longest_factor n + longest tokens
  index_t longest = 200;
};

/// How much each layer reads from each earlier one, mean over tokens and heads: entry [i][j] of layer i + 1 from the
/// output of layer j, where 0 is the embedding; the weights of a layer sum to one.  Empty on a side where layers do not
/// look back.
struct layer_weights {
  std::vector<std::vector<double>> encoder, decoder;
};

/// The same of every token and head of a batch: of layer k (tokens, heads, k), and nothing of a layer that does not look
/// back.
struct layer_reads {
  std::vector<std::vector<float>> encoder, decoder;
};

/// The purpose of a model: to learn, to translate, or to report what its layers read.
enum class use { learning, translating, explaining };

/// Room for batches of `tokens` tokens on each side, for single sequences of up to the longest, and for a search of
/// `sentences` at once.
struct translator_options {
  index_t source_words, target_words;      // of the dictionaries, with their special tokens
  index_t tokens;                          // rows of a batch on either side
  index_t pairs;                           // of a batch at most; 0: as many as the tokens allow
  index_t longest_source, longest_target;  // rows of one sequence: its tokens and one end
  index_t longest_given;                   // the same of targets that are not searched for
  index_t sentences;                       // 0: nothing is searched
  use what;

  /// The most pairs that a batch can have: a sequence has one token and its end.
  index_t most_pairs() const {
    return std::max<index_t>({1, pairs > 0 ? std::min(pairs, tokens / 2) : tokens / 2, sentences});
  }
  pair_dims capacity() const {
    return {most_pairs(), std::max(tokens, longest_source), std::max(tokens, longest_target), longest_source,
            longest_target};
  }
  /// The same of graphs: as many edges and triangles as batches of the longest pairs have.
  edge_pair_dims edge_capacity() const {
    auto const of = [&](index_t rows, index_t n) {
      auto const nodes = std::min(std::max(rows, n), most_pairs() * n);
      return graph_dims{most_pairs(), nodes * n, nodes, nodes * n * n, n};
    };
    if (what == use::translating) {  // sources alone
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

  // A batch: first add pairs, or sources only, then use it.  The arguments are token numbers, without begin and end.
  virtual void clear() = 0;
  /// Returns false if the batch has no memory left for it.
  virtual bool add(std::span<index_t const> source, std::span<index_t const> target) = 0;
  virtual bool add(std::span<index_t const> source) = 0;

  /// The capacity of a batch in tokens, on either side.
  virtual index_t tokens() const = 0;

  /// Mean of -log probability of a target token of the batch, ends included, without dropout and smoothing.
  virtual double loss() = 0;
  /// The best translations of each source of the batch, best first.
  virtual std::vector<std::vector<hypothesis>> const& translate(search const& how) = 0;
  /// Mean over tokens and heads of the batch.
  virtual layer_weights read_weights() = 0;
  /// The same of each, after read_weights().
  virtual layer_reads reads() = 0;

  /// Makes the model of the options on a backend, which is moved into it; called by the backends' translation units.
  template <class Ex>
  static std::unique_ptr<translator> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::sequences
