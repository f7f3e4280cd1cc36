// Models in training, with counts of their work: the Edge Transformer for labelled graphs, and the Edge Transformer as
// a parser.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sequences.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "work.hpp"

namespace bench {

/// Graphs of different sizes.
struct graph_sizes {
  std::vector<index_t> nodes;  // number of nodes in each graph

  index_t examples() const { return std::ssize(nodes); }
  triad::graph_dims dims() const {
    triad::graph_dims all;
    for (auto const n : nodes) all = all + triad::dims_of(n);
    return all;
  }
  /// Adds a sentence for each graph. draw(n, below) must return a token for a sentence of n tokens. below(count)
  /// returns a random number below `count`.
  template <class Loader, class Draw>
  void fill_sentences(Loader& loader, Draw const& draw) const {
    triad::random_stream random(5, 0);
    auto const below = [&](index_t count) { return random_index(random, count); };
    for (auto const n : nodes) {
      std::vector<decltype(draw(n, below))> sentence;
      for (index_t i = 0; i < n; ++i) sentence.push_back(draw(n, below));
      loader.add(sentence);
    }
  }
  void count_triangles(work_model& work, triad::edge_transformer_layer_options const& layer, bool train,
                       double times) const {
    std::map<index_t, index_t> graphs;  // the number of graphs with n nodes
    for (auto const n : nodes) ++graphs[n];
    for (auto const& [n, count] : graphs)
      work.triangle(layer.variant, count, n, layer.width, layer.heads, train, times);
  }
  /// Counts the work of `layers` layers of the Edge Transformer.  They compute all edges.
  void count_layers(work_model& work, triad::edge_transformer_layer_options const& layer, bool train,
                    double layers) const {
    index_t const rows = dims().rows;
    work.projections(layer.variant, rows, layer.width, train, layers);
    work.feed_forward(rows, layer.width, layer.hidden, layer.width, train, layers);
    count_triangles(work, layer, train, layers);
  }
};

/// Predicts a relation between two nodes of each graph.
struct graph_task : graph_sizes {
  triad::edge_transformer_options sizes;
  triad::keep memory = triad::keep::everything;
  bool chains = true;  // the edges form a chain, as in CLUTRR; false: every edge has a label

  template <class T>
  auto model() const {
    return triad::edge_transformer<T>(sizes);
  }
  template <class T, class Ex>
  auto loader(Ex& ex) const {
    return triad::graph_loader<Ex>(dims(), triad::memory_of(ex));
  }

  template <class Loader>
  void fill(Loader& loader) const {
    triad::random_stream random(5, 0);
    for (auto const n : nodes) {
      auto const answer = random_index(random, sizes.targets);
      auto* const label = loader.add(n, 0, n - 1, answer);
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j)
          if (!chains || j == i + 1) label[i * n + j] = 1 + random_index(random, sizes.labels - 1);
    }
  }
  template <class Loader>
  static auto upload(Loader& loader) {
    return loader.upload();
  }

  /// Counts the work of a training step or an inference step, without the parts that the floor omits.  Only one edge of
  /// each graph is read in the last layer.  With recomputation, the forward work of every layer except the last counts
  /// twice.
  work_model count_work(bool train = true) const {
    auto const& z = sizes;
    auto const all = dims();
    index_t const d = z.layer.width, reads = z.prune ? all.graphs : all.rows;
    auto const full = static_cast<double>(z.layers - 1);
    work_model work;
    count_layers(work, z.layer, train, full);
    if (train && memory == triad::keep::inputs) count_layers(work, z.layer, false, full);
    work.projections(z.layer.variant, all.rows, d, train, 1, reads);
    work.feed_forward(reads, d, z.layer.hidden, d, train);
    count_triangles(work, z.layer, train, 1);
    work.feed_forward(all.graphs, d, d, z.targets, train);
    return work;
  }
};

/// Predicts the parents and labels of the tokens of sentences.
struct parser_task : graph_sizes {
  triad::edge_transformer_parser_options sizes;
  triad::keep memory = triad::keep::everything;
  // Shuffled batches for training, one after another.  The sizes of all their graphs together are the same in every
  // order.
  std::vector<graph_sizes> epoch{};

  /// Returns the sizes of the largest batch.
  triad::graph_dims capacity() const {
    auto all = dims();
    for (auto const& batch : epoch) all = larger(all, batch.dims());
    return all;
  }

  template <class T>
  auto model() const {
    return triad::edge_transformer_parser<T>(sizes);
  }
  template <class T, class Ex>
  auto loader(Ex& ex) const {
    return triad::sentence_loader<Ex, T>(capacity(), sizes.relations / 2, sizes.layer.width, triad::memory_of(ex));
  }

  template <class Loader>
  void fill(Loader& loader) const {
    fill(loader, *this);
  }
  /// Fills the loader with the next batch.
  template <class Loader>
  void fill(Loader& loader, graph_sizes const& batch) const {
    batch.fill_sentences(loader, [&](index_t n, auto const& below) {
      auto const token = below(sizes.tokens), parent = below(n), role = below(sizes.labels.role),
                 category = below(sizes.labels.category);
      auto const noun_type = below(sizes.labels.noun_type);
      return triad::labelled_token{token, parent, role, category, noun_type, below(sizes.labels.verb)};
    });
  }
  template <class Loader>
  static auto upload(Loader& loader) {
    return loader.upload_padded();
  }

  /// Counts the work of a training step.  Every edge of the last layer is read.
  work_model count_work() const {
    auto const& z = sizes;
    auto const all = dims();
    work_model work;
    count_layers(work, z.layer, true, static_cast<double>(z.layers));
    if (memory == triad::keep::inputs) count_layers(work, z.layer, false, static_cast<double>(z.layers - 1));
    work.linear(all.rows, z.layer.width, 1, true);
    for (auto const count : {z.labels.role, z.labels.category, z.labels.noun_type, z.labels.verb})
      work.linear(all.nodes, z.layer.width, count, true);
    return work;
  }
};

/// The model for CLUTRR.  Graphs have n = 3, 4, 5 nodes in turn: they are chains of 2, 3 and 4 facts.  There are 21
/// labels of edges, including "no edge".
inline graph_task clutrr(index_t batch) {
  graph_task t;
  t.sizes = {
      .labels = 21, .targets = 20, .layers = 8, .layer = {.width = 200, .heads = 4, .hidden = 800, .dropout = 0.2}};
  for (index_t g = 0; g < batch; ++g) t.nodes.push_back(3 + g % 3);
  return t;
}

/// One large graph.  The backward pass computes the layers again.
inline graph_task large(index_t nodes) {
  graph_task t;
  t.nodes = {nodes};
  t.sizes = {.labels = 21, .targets = 20, .layers = 8, .layer = {.width = 128, .heads = 4, .hidden = 512}};
  t.memory = triad::keep::inputs;
  t.chains = false;
  return t;
}

/// The model for COGS with the paper's sizes.  The batch has the first `batch` of a hundred sentences, whose lengths
/// are the percentiles of the lengths in the training set.
inline parser_task cogs(index_t batch = 100) {
  parser_task t;
  t.sizes = {.tokens = 746,
             .labels = {9, 5, 4, 136},
             .layers = 3,
             .layer = {.width = 64, .heads = 4, .hidden = 256, .dropout = 0.1, .attention_bias = true},
             .fixed_token = 1};
  int const sentences_of[] = {0, 1, 0, 3, 7, 16, 8, 16, 18, 11, 7, 6, 4, 1, 1, 1};
  for (index_t n = 0; n < std::ssize(sentences_of); ++n)
    t.nodes.insert(t.nodes.end(), static_cast<std::size_t>(sentences_of[n]), n);
  t.nodes.resize(static_cast<std::size_t>(std::min(batch, std::ssize(t.nodes))));
  return t;
}

/// An epoch of COGS: 240 copies of the hundred sentences of cogs(), shuffled.
inline parser_task shuffled_cogs() {
  constexpr std::size_t batches = 240;
  auto t = cogs();
  std::vector<index_t> all;
  for (std::size_t b = 0; b < batches; ++b) all.insert(all.end(), t.nodes.begin(), t.nodes.end());
  triad::random_stream(5, 1).shuffle(all);
  auto const each = static_cast<std::ptrdiff_t>(t.nodes.size());
  for (auto at = all.begin(); at != all.end(); at += each) t.epoch.push_back({{at, at + each}});
  return t;
}

}  // namespace bench
