// The models of this program, made of its options, and their first values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "../common/model_sizes.hpp"
#include "parser.hpp"
#include "triad/core/errors.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/transformer_parser.hpp"
#include "triad/train/initialize.hpp"

namespace cogs {

/// Relative positions are clipped at this many tokens.
inline constexpr triad::index_t reach = 16;

/// The released program's, whatever else is dropped.
inline constexpr double positional_dropout = 0.1;

/// The number of the word whose vector is not learned, or none.
inline triad::index_t fixed_word(options const& o) { return o.learn_all ? -1 : 1; }

/// make(model) of the Edge Transformer that the options describe.
template <class Make>
std::unique_ptr<parser> with_edge_transformer(options const& o, parser_options const& z, Make&& make) {
  triad::edge_transformer_parser_options const sizes{
      .tokens = z.tokens,
      .relations = 2 * reach + 1,
      .labels = z.labels,
      .layers = o.layers,
      .tied = o.tied,
      .layer = {.width = o.width,
                .heads = o.heads,
                .hidden = triad::examples::hidden_of(o),
                .dropout = o.dropout,
                .variant = o.attention,
                .attention_bias = true},
      .encoding = o.positional ? triad::sequence_encoding::positional : triad::sequence_encoding::relational,
      .positional_dropout = positional_dropout,
      .readout = o.from_parent ? triad::arcs::from_parent : triad::arcs::from_child,
      .fixed_token = fixed_word(o)};
  using triad::dyn;
  if (o.paper_form) return make(triad::edge_transformer_parser<float, dyn, dyn, dyn, triad::form::paper>(sizes));
  return make(triad::edge_transformer_parser<float>(sizes));
}

/// make(model) of one of the released program's baselines.
template <class Make>
std::unique_ptr<parser> with_transformer(options const& o, parser_options const& z, Make&& make) {
  if (o.attention != triad::triangle_form::full || o.paper_form || o.positional || o.from_parent)
    throw triad::data_error(
        "--attention, --paper-form, --positional and --from-parent are about the states of edges, which --model " +
        o.model + " does not have");
  if (o.tied != (o.model == "universal-transformer"))
    throw triad::data_error("a Transformer with --tied is --model universal-transformer, and that is always tied");
  triad::transformer_parser_options const sizes{
      .tokens = z.tokens,
      .labels = z.labels,
      .layers = o.layers,
      .tied = o.tied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = triad::examples::hidden_of(o), .dropout = o.dropout},
      .positional_dropout = positional_dropout,
      .fixed_token = fixed_word(o)};
  return make(triad::transformer_parser<float>(sizes));
}

template <class Make>
std::unique_ptr<parser> with_model(options const& o, parser_options const& z, Make&& make) {
  return o.model == "edge-transformer" ? with_edge_transformer(o, z, make) : with_transformer(o, z, make);
}

/// As the released program: words from a normal distribution, the heads as their framework makes them, all else xavier
/// uniform.
template <class Model>
triad::initializer first_values_of(Model const&, std::string const& path) {
  if (path == "encoder.tokens") return triad::initializer::normal(1);
  bool const head = path.starts_with("parent") || path.starts_with("labels");
  return head && path.ends_with("weight") ? triad::initializer::linear_uniform() : triad::initializer::by_name();
}
/// The same, where the maps to parents count as the encoder's, and those into an attention are drawn as one matrix (3
/// d, d); its biases begin at zero, as the framework has it.
template <class T, triad::index_t D, triad::index_t H, triad::index_t F>
triad::initializer first_values_of(triad::transformer_parser<T, D, H, F> const& m, std::string const& path) {
  if (path == "encoder.tokens") return triad::initializer::normal(1);
  if (path.find(".attention.") != std::string::npos) {
    if (path.ends_with("bias")) return triad::initializer::constant(0);
    double const bound = std::sqrt(6 / static_cast<double>(4 * m.width()));
    return path.ends_with("output.weight") ? triad::initializer::xavier_uniform()
                                           : triad::initializer::uniform(-bound, bound);
  }
  return path.starts_with("labels") && path.ends_with("weight") ? triad::initializer::linear_uniform()
                                                                : triad::initializer::by_name();
}

}  // namespace cogs
