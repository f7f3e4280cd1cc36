// The models of this task, made of its options, and their first values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "../../common/model_sizes.hpp"
#include "parser.hpp"
#include "triad/models/dependency_parser.hpp"
#include "triad/train/initialize.hpp"

namespace dependency {

/// Relative positions are clipped at this many words.
inline constexpr triad::index_t reach = 16;

/// make(model) of what the options describe.
template <class Make>
std::unique_ptr<parser> with_model(options const& o, parser_options const& z, Make&& make) {
  if (o.model == "edge-transformer") {
    triad::edge_trunk_options const trunk{.tokens = z.tokens,
                                          .relations = 2 * reach + 1,
                                          .layers = o.layers,
                                          .tied = o.tied,
                                          .layer = {.width = o.width,
                                                    .heads = o.heads,
                                                    .hidden = triad::examples::hidden_of(o),
                                                    .dropout = o.dropout,
                                                    .variant = o.attention,
                                                    .attention_bias = true}};
    return make(triad::edge_dependency_parser<float>(trunk, {.relations = z.relations}));
  }
  triad::token_trunk_options const trunk{
      .tokens = z.tokens,
      .layers = o.layers,
      .tied = o.tied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = triad::examples::hidden_of(o), .dropout = o.dropout},
      .positional_dropout = o.dropout};
  return make(triad::biaffine_dependency_parser<float>(
      trunk, {.relations = z.relations, .inner = o.width, .dropout = o.dropout}));
}

/// Words from a normal distribution, all else by its name.
inline triad::initializer first_values_of(std::string const& path) {
  return path == "encoder.tokens" ? triad::initializer::normal(1) : triad::initializer::by_name();
}

}  // namespace dependency
