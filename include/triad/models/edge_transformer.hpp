// The Edge Transformer for labelled graphs.  Labels give the initial states of edges, layers update the states, and a
// readout computes the logits of one edge of each graph.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0(i, j) = e(label(i, j));  x_{k+1} = layer(x_k);  logits = readout(x_L(source, target))
//
// The readout reads only one edge of each graph.  So the last layer computes its output projection and its feed-forward
// block only for this edge.
#pragma once

#include "triad/core/sizes.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/models/graph_model.hpp"

namespace triad {

struct edge_transformer_options {
  index_t labels = 0;          // the number of rows of the embedding
  index_t targets = 0;         // the number of logits
  index_t layers = not_given;  // not_given: the L of the type, or 1 if L is dyn
  bool tied = true;
  edge_transformer_layer_options layer{};
  bool prune = true;  // false: the last layer computes all edges, as the released program does; the logits are equal
};

namespace detail {
template <class T, index_t D, index_t H, index_t F, form Form, index_t L>
using edge_transformer_parts = graph_model<embedding<T, dyn, D>, repeat<T, edge_transformer_layer<T, D, H, F, Form>, L>,
                                           feed_forward<T, D, D, dyn>>;
}  // namespace detail

/// The Edge Transformer: a graph_model with a feed-forward block as its readout.  models/graph_model.hpp describes the
/// members.
template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn, form Form = form::released, index_t L = dyn>
struct edge_transformer : detail::edge_transformer_parts<T, D, H, F, Form, L> {
  using layer_type = edge_transformer_layer<T, D, H, F, Form>;
  using stack_type = repeat<T, layer_type, L>;

  explicit edge_transformer(edge_transformer_options const& options)
      : detail::edge_transformer_parts<T, D, H, F, Form, L>{
            {extents_of<dyn, D>("edge_transformer", {"labels", options.labels}, {"width", options.layer.width})},
            stack_type{
                layer_type(options.layer),
                extents_of<L>("edge_transformer",
                              {"layers", L == dyn && options.layers == not_given ? 1 : options.layers, most_repeats}),
                options.tied, options.prune},
            {options.layer.width, options.layer.width,
             checked_size("edge_transformer", {"targets", options.targets})}} {}
};

}  // namespace triad
