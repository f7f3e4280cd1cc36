// A pre-trained encoder (RoBERTa, BERT, MPNet) with a new decoder of any width.  The model is fine-tuned on pairs of
// sequences.
// SPDX-License-Identifier: Apache-2.0
//
//   source: x_0 = learned_tokens, x_L from L layers with gelu and norms after the sums    (source rows, e)
//   target: as in models/fused_transformer.hpp; its attention over x_L projects e to d    (target rows, d)
//
// The width e of roberta-base is 768.
//
// How to use the published weights (io/encoder.hpp reads them):
//
//   auto const config = read_encoder_config(folder);
//   auto const model = encoder_under_decoder<float>(config, sizes);
//   parameter_set<roberta_transformer<float>, cpu::backend> parameters(model);
//   initialize(parameters, seed);
//   load_encoder(folder, parameters);
//
// `sizes` has the decoder's sizes, and says which layers have fuse-attention.  The parameters of the decoder and of
// fuse-attention keep the values that initialize() gave them.
//
// Published encoders have no fuse-attention.  So an encoder layer with fuse-attention computes another function than
// the pre-trained layer.
#pragma once

#include <string>

#include "triad/layers/inputs/learned_tokens.hpp"
#include "triad/models/fused_transformer.hpp"

namespace triad {

/// The model.  All its widths are dynamic, because they are read from files.
template <class T>
using roberta_transformer = fused_transformer<T, dyn, dyn, dyn, learned_tokens<T>>;

/// Returns a model with the published encoder and the decoder of `options`.  `Config` is encoder_config, or a struct
/// with the same members; a struct without first() is a RoBERTa's.  The encoder's dropout and fuse-attention
/// come from `options`.  All other options of the encoder come from `config`, or are those of every published encoder.
template <class T, class Config>
roberta_transformer<T> encoder_under_decoder(Config const& config, fused_transformer_options options) {
  TRIAD_EXPECTS(!options.encoder.tied && options.encoder.link == layer_link::previous,
                "encoder_under_decoder: encoder layers that are tied or linked to earlier ones, expected neither");
  auto& layer = options.encoder.layer;
  layer.width = config.width;
  layer.heads = config.heads;
  layer.hidden = config.hidden;
  layer.epsilon = config.epsilon;
  layer.norms = norm_position::after;
  layer.between = activation::gelu;
  layer.reach = 0;
  options.encoder.layers = config.layers;
  options.source_tokens = config.tokens;
  constexpr char name[] = "encoder_under_decoder";
  index_t const tokens = checked_size(name, {"tokens", config.tokens}),
                positions = checked_size(name, {"positions", config.positions});
  TRIAD_EXPECTS(config.padding >= 0 && config.padding < positions,
                "encoder_under_decoder: padding is " + std::to_string(config.padding) + ", expected 0 to " +
                    std::to_string(positions - 1));
  index_t first = config.padding + 1;
  bool typed = true;
  if constexpr (requires { config.first(); }) {
    first = config.first();
    typed = config.typed();
    options.encoder.distance_bias = config.distances();
  }
  TRIAD_EXPECTS(first < positions, "encoder_under_decoder: padding is " + std::to_string(config.padding) + " of " +
                                       std::to_string(positions) + " positions, expected a position for a token");
  return roberta_transformer<T>(options, {tokens, positions, extents_of<dyn>(name, {"width", config.width}),
                                          options.dropout, config.epsilon, first, typed});
}
/// encoder_under_decoder(), by its first name.
template <class T, class Config>
roberta_transformer<T> roberta_under_decoder(Config const& config, fused_transformer_options const& options) {
  return encoder_under_decoder<T>(config, options);
}

}  // namespace triad
