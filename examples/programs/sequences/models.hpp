// The models of all sequence-to-sequence programs, with their initial values.  Each kind of model has a loader, a
// decoder and a capacity.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <type_traits>

#include "translator.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/decoding/edge_decoder.hpp"
#include "triad/decoding/fused_decoder.hpp"
#include "triad/io/text/dictionary.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/models/roberta.hpp"
#include "triad/train/initialize.hpp"

namespace triad::programs::sequences {

/// Returns the options of one side's layers.  `looks_back` is true if --fuse names this side.
inline fused_stack_options stack_of(options const& o, index_t layers, bool looks_back) {
  fused_stack_options stack{.layer = {.width = o.width,
                                      .heads = o.heads,
                                      .hidden = o.hidden,
                                      .dropout = o.dropout,
                                      .norms = o.norm == "before" ? norm_position::before : norm_position::after,
                                      .reach = o.relative ? o.max_offset : 0},
                            .layers = layers,
                            .tied = o.model == "universal-transformer"};
  if (looks_back && o.accumulate) stack.link = layer_link::sum;
  if (looks_back && !o.accumulate) stack.fused = o.only_top ? only_top_fused(layers) : all_fused(layers);
  return stack;
}

inline embedding_scale scale_of(options const& o) {
  return o.embedding_scale == "unscaled"         ? embedding_scale::unscaled
         : o.embedding_scale == "positions-down" ? embedding_scale::positions_down
                                                 : embedding_scale::tokens_up;
}

/// Returns the options of a model with a state for each token.  In the model dlcl, encoder layers read weighted sums of
/// all earlier layers, as in the paper's baseline.
inline fused_transformer_options model_of(options const& o, translator_options const& z) {
  fused_transformer_options sizes;
  sizes.source_tokens = z.source_words;
  sizes.target_tokens = z.target_words;
  sizes.encoder = stack_of(o, o.encoder_layers, o.fuse == "source" || o.fuse == "both");
  sizes.decoder = stack_of(o, o.decoder_layers, o.fuse == "target" || o.fuse == "both");
  if (o.model == "dlcl") sizes.encoder.link = layer_link::weighted;
  sizes.tied_output = o.tie_output;
  sizes.shared_table = o.share_embedding;
  sizes.scaled = scale_of(o);
  sizes.dropout = o.dropout;
  sizes.positions = !o.relative;
  sizes.smoothing = {o.smoothing};
  sizes.frozen_encoder = o.freeze_encoder && z.what == use::learning;
  return sizes;
}

/// True if a model's encoder has published weights.
template <class Model>
inline constexpr bool has_published_encoder = std::is_same_v<Model, roberta_transformer<typename Model::value_type>>;

inline edge_transformer_seq2seq_options edge_model_of(options const& o, translator_options const& z) {
  edge_transformer_seq2seq_options sizes;
  sizes.tokens = z.target_words;
  sizes.layers = o.encoder_layers;
  sizes.tied = o.tied;
  sizes.layer = {.width = o.width,
                 .heads = o.heads,
                 .hidden = o.hidden,
                 .dropout = o.dropout,
                 .variant = o.attention,
                 .attention_bias = true};
  if (o.positional) {
    sizes.encoding = sequence_encoding::positional;
    sizes.positional_dropout = o.dropout;
  }
  if (o.from_begin) sizes.readout = edge_readout::from_begin;
  sizes.smoothing = {o.smoothing};
  return sizes;
}

/// Returns how a parameter is initialised, as in fairseq.  Embeddings and the output are drawn from a normal
/// distribution with standard deviation d^(-1/2), so that the values of the first states have size 1.  If embeddings
/// are not scaled, theirs have standard deviation 1.  Biases are zero.
/// Matrices are Xavier uniform.  The matrices for queries, keys and values have gain 2^(-1/2).
template <class T, index_t D, index_t H, index_t F, class Source, class Encoder>
initializer first_values_of(fused_transformer<T, D, H, F, Source, Encoder> const& m, std::string const& path) {
  auto const d = static_cast<double>(m.width()),
             e = static_cast<double>(m.encoder.width());  // a published encoder may have another width
  if (path.ends_with("table") && m.target.scaled == embedding_scale::unscaled) return initializer::normal(1);
  if (path.ends_with("table") || path == "output") return initializer::normal(1 / std::sqrt(d));
  bool const encodes = path.starts_with("encoder."),
             crosses = path.find(".cross.") != std::string::npos && !path.ends_with(".query.weight");
  double const bound = std::sqrt(3 / ((encodes ? e : d) + (encodes || crosses ? e : d)));
  for (auto const* map : {".query.weight", ".key.weight", ".value.weight"})
    if (path.ends_with(map)) return initializer::uniform(-bound, bound);
  return path.ends_with("bias") ? initializer::constant(0) : initializer::by_name();
}

/// Returns how a parameter is initialised, as in the released program.  Word vectors are drawn from a normal
/// distribution.  The vectors of the begin marks are zero.  The output has PyTorch's defaults.  All other parameters
/// are Xavier uniform.
template <class T, index_t D, index_t H, index_t F, form Form>
initializer first_values_of(edge_transformer_seq2seq<T, D, H, F, Form> const&, std::string const& path) {
  if (path == "tokens") return initializer::normal(1);
  if (path.ends_with("begin")) return initializer::constant(0);
  return path == "output.weight" ? initializer::linear_uniform() : initializer::by_name();
}

using text::dictionary;

/// The loader, the decoder and the capacity of a model with a state for each token.
template <class Model>
struct parts_of {
  template <class Ex>
  using loader = pair_loader<Ex, typename Model::value_type>;
  template <class Ex>
  using decoder = fused_decoder<Model, Ex>;
  static constexpr double beta2 = 0.98;  // of Adam, as in fairseq

  template <class Ex>
  static loader<Ex> make_loader(Ex& ex, Model const& m, translator_options const& z) {
    return loader<Ex>(capacity(z), m.width(), dictionary::end, dictionary::end, memory_of(ex), z.source_end);
  }
  static pair_dims capacity(translator_options const& z) { return z.capacity(); }
  /// The capacity of training batches.  Training batches are padded if the backend replays recorded updates.
  template <class Ex>
  static pair_dims padded_capacity(translator_options const& z) {
    return padded_room_for<Ex>(capacity(z));
  }
  static decoder_room room(translator_options const& z, int beam) {
    auto sources = z.capacity();
    sources.pairs = z.sentences;
    sources.target_rows = 0;
    sources.longest_target = 0;
    return {sources, beam, z.longest_target};
  }
};

/// The loader, the decoder and the capacity of a model with a state for each pair of tokens.
template <class T, index_t D, index_t H, index_t F, form Form>
struct parts_of<edge_transformer_seq2seq<T, D, H, F, Form>> {
  using model = edge_transformer_seq2seq<T, D, H, F, Form>;
  template <class Ex>
  using loader = edge_pair_loader<Ex, T>;
  template <class Ex>
  using decoder = edge_decoder<model, Ex>;
  static constexpr double beta2 = 0.999;  // of Adam, as in the released program

  template <class Ex>
  static loader<Ex> make_loader(Ex& ex, model const& m, translator_options const& z) {
    return loader<Ex>(capacity(z), m.layout, m.width(), dictionary::end, dictionary::end, memory_of(ex),
                      z.longest_target);
  }
  static edge_pair_dims capacity(translator_options const& z) { return z.edge_capacity(); }
  template <class Ex>
  static edge_pair_dims padded_capacity(translator_options const& z) {
    return padded_room_for<Ex>(capacity(z));
  }
  static edge_decoder_room room(translator_options const& z, int beam) {
    auto sources = z.edge_capacity();
    index_t const n = z.longest_source;
    sources.pairs = z.sentences;
    sources.whole = {};
    sources.targets = 0;
    sources.source = {z.sentences, z.sentences * n * n, z.sentences * n, z.sentences * n * n * n, n};
    return {sources, beam, z.longest_target};
  }
};

}  // namespace triad::programs::sequences
