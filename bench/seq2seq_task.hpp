// An encoder-decoder in training on pairs of random tokens, with its work counted: the Transformer, and LRF.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "triad/core/random.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/models/pair_loader.hpp"
#include "work.hpp"

namespace bench {

/// Pairs of sentences of one length, ends among it; as many layers on both sides.
struct seq2seq_task {
  index_t sentences = 32, length = 20, layers = 6, width = 512, hidden = 1024, heads = 4, words = 5500;
  bool fused = false;
  triad::keep memory = triad::keep::everything;
  static constexpr index_t end = 2;

  index_t examples() const { return sentences; }
  /// Of the targets.
  index_t tokens() const { return sentences * length; }
  triad::pair_dims dims() const { return {sentences, tokens(), tokens(), length, length}; }
  std::string name() const {
    auto const part = [](char const* label, index_t n) { return std::string("/") + label + ":" + std::to_string(n); };
    return part("b", sentences) + part("s", length) + part("l", layers) + part("d", width) + part("ff", hidden) + part("h", heads) + part("v", words);
  }

  triad::fused_transformer_sizes sizes() const {
    triad::fused_transformer_sizes z;
    z.source_tokens = z.target_tokens = words;
    triad::transformer_options const layer{.width = width, .heads = heads, .hidden = hidden, .dropout = 0.1};
    z.encoder = z.decoder = {.layer = layer, .layers = layers, .fused = fused ? triad::all_fused(layers) : 0};
    z.dropout = 0.1;
    z.smoothing = {0.1};
    return z;
  }
  template <class T>
  auto model() const { return triad::fused_transformer<T>(sizes()); }
  template <class T, class Ex>
  auto loader(Ex& ex) const { return triad::pair_loader<Ex, T>(dims(), width, end, end, triad::memory_of(ex)); }

  template <class Loader>
  void fill(Loader& loader) const {
    triad::random_stream random(5, 0);
    auto const sentence = [&] {
      std::vector<index_t> all;
      for (index_t i = 1; i < length; ++i) all.push_back(4 + static_cast<index_t>(random.below(static_cast<std::uint32_t>(words - 4))));
      return all;
    };
    for (index_t b = 0; b < sentences; ++b) {
      auto const source = sentence();
      loader.add(source, sentence());
    }
  }
  template <class Loader>
  static auto upload(Loader& loader) { return loader.upload(); }

  /// The same model at a size that the reference can do.
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
      work.linear(rows, d, 3 * d, true, depth);  // query, key, value
      work.linear(rows, d, d, true, depth);
      work.feed_forward(rows, d, hidden, d, true, depth);
      if (!fused) continue;
      work.linear(rows, d, d, true, 2 * depth);  // query and output
      for (int map = 0; map < 2; ++map) {        // keys and values, a head at a time
        work.add({rows, d, k, false, false}, of_heads);
        work.add({rows, k, d, false, true}, of_heads);
        work.add({k, d, rows, true, false}, of_heads);
      }
    }
    work.linear(rows, d, d, true, 2 * depth);  // cross-attention: query and output; keys and values of the source
    work.linear(rows, d, 2 * d, true, depth);
    work.linear(rows, d, words, true);
    return work;
  }
};

}  // namespace bench
