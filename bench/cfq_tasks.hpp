// Models for CFQ in training, with counts of their work: dependency parsers, and the Edge Transformer with a decoder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sequences.hpp"
#include "training_tasks.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/models/dependency_parser.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"

namespace bench {

/// Returns the options of the Edge Transformer's layer, which both tasks use.
inline triad::edge_transformer_layer_options edge_layer(index_t width, index_t heads) {
  return {.width = width, .heads = heads, .hidden = 4 * width, .dropout = 0.1, .attention_bias = true};
}

/// Predicts the parent of each token of a sentence, and the relation of the token to its parent.  The size of a batch
/// is a number of words.
struct dependency_task : graph_sizes {
  static constexpr index_t vocabulary = 100, relations = 12, reach = 16;
  index_t layers = 7, width = 360, heads = 4;
  bool tied = false;
  static constexpr triad::keep memory = triad::keep::everything;

  index_t tokens() const { return dims().nodes; }
  std::string name() const { return name_of({{"words", tokens()}, {"l", layers}, {"d", width}, {"h", heads}}); }

  template <class T, class Ex>
  auto loader(Ex& ex) const {
    return triad::dependency_loader<Ex, T>(dims(), reach, width, triad::memory_of(ex));
  }
  template <class Loader>
  void fill(Loader& loader) const {
    fill_sentences(loader, [](index_t n, auto const& below) {
      auto const token = below(vocabulary), parent = below(n);
      return triad::attached_token{token, parent, below(relations)};
    });
  }
  template <class Loader>
  static auto upload(Loader& loader) {
    return loader.upload();
  }
};

/// Predicts parents with an Edge Transformer, which has a state for each ordered pair of tokens.
struct edge_dependency_task : dependency_task {
  template <class T>
  auto model() const {
    triad::edge_trunk_options const trunk{.tokens = vocabulary,
                                          .relations = 2 * reach + 1,
                                          .layers = layers,
                                          .tied = tied,
                                          .layer = edge_layer(width, heads)};
    return triad::edge_dependency_parser<T>(trunk, {.relations = relations});
  }
  work_model count_work() const {
    work_model work;
    count_layers(work, edge_layer(width, heads), true, static_cast<double>(layers));
    work.linear(dims().rows, width, 1, true);
    work.linear(dims().nodes, width, relations, true);
    return work;
  }
};

/// Predicts parents with a Transformer, which has a state for each token.  The counted work does not include attention
/// and the products of pairs.
struct biaffine_dependency_task : dependency_task {
  template <class T>
  auto model() const {
    triad::transformer_layer_options const layer{.width = width, .heads = heads, .hidden = 4 * width, .dropout = 0.1};
    triad::token_trunk_options const trunk{
        .tokens = vocabulary, .layers = layers, .tied = tied, .layer = layer, .positional_dropout = 0.1};
    return triad::biaffine_dependency_parser<T>(trunk, {.relations = relations, .inner = width, .dropout = 0.1});
  }
  work_model count_work() const {
    work_model work;
    index_t const rows = dims().nodes, d = width;
    work.transformer_layer(rows, d, 4 * d, true, static_cast<double>(layers));
    work.linear(rows, d, 4 * d, true);  // maps for both ends of arcs and of relations
    work.linear(rows, d, d, true, 3);
    work.linear(rows, d, 1, true);
    work.linear(rows, d, relations, true);
    return work;
  }
};

/// Pairs of a source and a target.  All sources have the same length, and so do all targets.  Lengths include begin and
/// end tokens.
struct edge_pair_task {
  index_t sentences = 1, source = 15, target = 50, layers = 6, width = 256, heads = 8, words = 100;
  static constexpr triad::keep memory = triad::keep::everything;
  static constexpr index_t begin = 0, end = 2;

  index_t examples() const { return sentences; }
  /// Returns the number of target tokens.
  index_t tokens() const { return sentences * target; }
  std::string name() const {
    return name_of({{"b", sentences}, {"s", source}, {"t", target}, {"l", layers}, {"d", width}, {"h", heads}});
  }
  template <class T>
  auto model() const {
    triad::edge_transformer_seq2seq_options z;
    z.tokens = words;
    z.layers = layers;
    z.layer = edge_layer(width, heads);
    return triad::edge_transformer_seq2seq<T>(z);
  }
  /// Returns the sizes of a batch with `copies` copies of every sentence and `of_target` target tokens in each.
  triad::edge_pair_dims dims(index_t copies, index_t of_target) const {
    triad::edge_pair_dims z;
    for (index_t b = 0; b < sentences * copies; ++b) z = z + triad::edge_pair_dims_of(source, of_target);
    return z;
  }
  triad::edge_pair_dims dims() const { return dims(1, target); }

  template <class T, class Ex>
  auto loader(Ex& ex) const {
    return triad::edge_pair_loader<Ex, T>(dims(), model<T>().layout, width, begin, end, triad::memory_of(ex));
  }
  template <class Loader>
  void fill(Loader& loader) const {
    fill_pairs(loader, sentences, source, target, words);
  }
  template <class Loader>
  static auto upload(Loader& loader) {
    return loader.upload();
  }

  /// Returns this model with smaller sizes, which the reference backend computes in a short time.
  edge_pair_task small() const {
    edge_pair_task t = *this;
    t.sentences = 2, t.source = 4, t.target = 7, t.layers = 3, t.width = 32, t.heads = 4, t.words = 20;
    return t;
  }

  /// Counts the work.  In the decoder's last layer, only one edge of each target token is read.
  work_model count_work() const {
    auto const z = dims();
    auto const o = edge_layer(width, heads);
    double const share = shape{1, source + target, width, heads, source}.share_of_triples();
    work_model work;
    auto const layers_of = [&](index_t rows, index_t n, double share_of_triples, double times, index_t reads) {
      work.projections(o.variant, rows, width, true, times, reads);
      work.feed_forward(reads, width, o.hidden, width, true, times);
      work.triangle(o.variant, sentences, n, width, heads, true, times, share_of_triples);
    };
    layers_of(z.source.rows, source, 1, static_cast<double>(layers), z.source.rows);
    layers_of(z.whole.rows, source + target, share, static_cast<double>(layers - 1), z.whole.rows);
    layers_of(z.whole.rows, source + target, share, 1, z.targets);
    work.linear(z.targets, width, words, true);
    return work;
  }
};

/// Returns the lengths of sentences with about this number of words in total: 8, 9, ..., 19 in turn, as in CFQ's
/// questions.
inline std::vector<index_t> questions(index_t words) {
  std::vector<index_t> nodes;
  for (index_t n = 8, sum = 0; sum + n <= words; n = n < 19 ? n + 1 : 8) {
    nodes.push_back(n);
    sum += n;
  }
  return nodes;
}

}  // namespace bench
