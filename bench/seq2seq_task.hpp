// An encoder-decoder in training on pairs of random tokens, with counts of its work: the Transformer, and LRF.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sequences.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/models/fused_transformer.hpp"
#include "work.hpp"

namespace bench {

/// Pairs of sentences of the same length, end token included.  Both sides have the same number of layers.
struct seq2seq_task {
  index_t sentences = 32, length = 20, layers = 6, width = 512, hidden = 1024, heads = 4, words = 5500;
  bool fused = false;
  triad::keep memory = triad::keep::everything;
  static constexpr index_t end = 2;

  index_t examples() const { return sentences; }
  /// Returns the number of target tokens.
  index_t tokens() const { return sentences * length; }
  triad::pair_dims dims() const { return {sentences, tokens(), tokens(), length, length}; }
  std::string name() const {
    return name_of(
        {{"b", sentences}, {"s", length}, {"l", layers}, {"d", width}, {"ff", hidden}, {"h", heads}, {"v", words}});
  }

  triad::fused_transformer_options sizes() const {
    triad::fused_transformer_options z;
    z.source_tokens = z.target_tokens = words;
    triad::transformer_layer_options const layer{.width = width, .heads = heads, .hidden = hidden, .dropout = 0.1};
    z.encoder = z.decoder = {.layer = layer, .layers = layers, .fused = fused ? triad::all_fused(layers) : 0};
    z.dropout = 0.1;
    z.smoothing = {0.1};
    return z;
  }
  template <class T>
  auto model() const {
    return triad::fused_transformer<T>(sizes());
  }
  template <class T, class Ex>
  auto loader(Ex& ex) const {
    return triad::pair_loader<Ex, T>(dims(), width, end, end, triad::memory_of(ex));
  }

  template <class Loader>
  void fill(Loader& loader) const {
    fill_pairs(loader, sentences, length, length, words);
  }
  template <class Loader>
  static auto upload(Loader& loader) {
    return loader.upload();
  }

  /// Returns this model with smaller sizes, which the reference backend computes in a short time.
  seq2seq_task small() const {
    seq2seq_task t = *this;
    t.sentences = 3, t.length = 7, t.layers = 3, t.width = 32, t.hidden = 48, t.words = 50;
    return t;
  }

  work_model count_work() const {
    work_model work;
    index_t const rows = tokens(), d = width, k = width / heads;
    auto const depth = static_cast<double>(layers), of_heads = depth * static_cast<double>(heads);
    for (int side = 0; side < 2; ++side) {
      work.transformer_layer(rows, d, hidden, true, depth);
      if (!fused) continue;
      work.linear(rows, d, d, true, 2 * depth);  // query and output
      for (int map = 0; map < 2; ++map) {        // keys and values, for each head
        work.add({rows, d, k, false, false}, of_heads);
        work.add({rows, k, d, false, true}, of_heads);
        work.add({k, d, rows, true, false}, of_heads);
      }
    }
    work.linear(rows, d, d, true, 2 * depth);  // cross-attention: query and output; source: keys and values
    work.linear(rows, d, 2 * d, true, depth);
    work.linear(rows, d, words, true);
    return work;
  }
};

}  // namespace bench
