// What a translator is made of beside its model: the loader, the decoder and the room that a kind of model needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/decoding/edge_decoder.hpp"
#include "triad/decoding/fused_decoder.hpp"
#include "triad/io/text/dictionary.hpp"

namespace seq2seq {

using words = triad::text::dictionary;

/// Of a model whose states are of tokens.
template <class Model>
struct parts_of {
  template <class Ex>
  using loader = triad::pair_loader<Ex, typename Model::value_type>;
  template <class Ex>
  using decoder = triad::fused_decoder<Model, Ex>;
  static constexpr double beta2 = 0.98;  // of Adam, as fairseq

  template <class Ex>
  static loader<Ex> make_loader(Ex& ex, Model const& m, translator_options const& z) {
    return loader<Ex>(capacity(z), m.width(), words::end, words::end, triad::memory_of(ex));
  }
  static triad::pair_dims capacity(translator_options const& z) { return z.capacity(); }
  static triad::decoder_room room(translator_options const& z, int beam) {
    auto sources = z.capacity();
    sources.pairs = z.sentences, sources.target_rows = 0, sources.longest_target = 0;
    return {sources, beam, z.longest_target};
  }
};

/// Of a model whose states are of pairs of tokens.
template <class T, index_t D, index_t H, index_t F, triad::form Form>
struct parts_of<triad::edge_transformer_seq2seq<T, D, H, F, Form>> {
  using model = triad::edge_transformer_seq2seq<T, D, H, F, Form>;
  template <class Ex>
  using loader = triad::edge_pair_loader<Ex, T>;
  template <class Ex>
  using decoder = triad::edge_decoder<model, Ex>;
  static constexpr double beta2 = 0.999;  // the released program's

  template <class Ex>
  static loader<Ex> make_loader(Ex& ex, model const& m, translator_options const& z) {
    return loader<Ex>(capacity(z), m.layout, m.width(), words::end, words::end, triad::memory_of(ex), z.longest_target);
  }
  static triad::edge_pair_dims capacity(translator_options const& z) { return z.edge_capacity(); }
  static triad::edge_decoder_room room(translator_options const& z, int beam) {
    auto sources = z.edge_capacity();
    index_t const n = z.longest_source;
    sources.pairs = z.sentences, sources.whole = {}, sources.targets = 0;
    sources.source = {z.sentences, z.sentences * n * n, z.sentences * n, z.sentences * n * n * n, n};
    return {sources, beam, z.longest_target};
  }
};

}  // namespace seq2seq
