// A pre-trained RoBERTa encoder under a decoder of any width: what fine-tuning on pairs of sequences begins with.
// SPDX-License-Identifier: Apache-2.0
//
//   source: x_0 = learned_tokens, x_L by L layers with gelu, norms after the sums         (source rows, e)
//   target: as in models/fused_transformer.hpp; its attention over x_L projects e to d    (target rows, d)
//
// In roberta-base e is 768.
//
// With the published weights (io/roberta.hpp reads them):
//
//   auto const config = read_roberta_config(folder);
//   auto const model = roberta_under_decoder<float>(config, sizes);
//   parameter_set<roberta_transformer<float>, cpu::backend> parameters(model);
//   initialize(parameters, seed);
//   load_roberta(folder, parameters);
//
// sizes are of the decoder, and say who has fuse-attention.  The decoder and the fuse modules keep their first values.
//
// RoBERTa has no fuse-attention: layers that are given it begin as something else than what was pre-trained.
#pragma once

#include <string>

#include "triad/layers/inputs/learned_tokens.hpp"
#include "triad/models/fused_transformer.hpp"

namespace triad {

/// All widths are dynamic, since files give them.
template <class T>
using roberta_transformer = fused_transformer<T, dyn, dyn, dyn, learned_tokens<T>>;

/// The published encoder under the decoder of `options`.  Config: roberta_config, or a struct with its members.
/// The source side keeps the dropouts and fuse-attention of the options; the rest is the config's or RoBERTa's.
template <class T, class Config>
roberta_transformer<T> roberta_under_decoder(Config const& config, fused_transformer_options options) {
  TRIAD_EXPECTS(!options.encoder.tied && options.encoder.link == layer_link::previous,
                "roberta_under_decoder: encoder layers that are tied or linked to earlier ones, expected neither");
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
  constexpr char name[] = "roberta_under_decoder";
  index_t const tokens = checked_size(name, {"tokens", config.tokens}),
                positions = checked_size(name, {"positions", config.positions});
  TRIAD_EXPECTS(config.padding >= 0 && config.padding < positions - 1,
                "roberta_under_decoder: padding is " + std::to_string(config.padding) + ", expected 0 to " +
                    std::to_string(positions - 2) + ": the positions of tokens begin after it");
  return roberta_transformer<T>(options, {tokens, positions, extents_of<dyn>(name, {"width", config.width}),
                                          options.dropout, config.epsilon, config.padding + 1});
}

}  // namespace triad
