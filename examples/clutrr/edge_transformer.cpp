// The Edge Transformer as a network of this program.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer.hpp"

#include "on_backend.hpp"

namespace clutrr {

std::unique_ptr<network> make_edge_transformer(options const& o, network_sizes const& z) {
  triad::edge_transformer_sizes const sizes{
      .labels = z.labels, .targets = z.targets, .layers = o.layers, .tied = !o.untied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = o.width * o.hidden_factor, .dropout = o.dropout, .variant = o.attention}};
  using triad::dyn;
  if (o.paper_form) return on_backend(triad::edge_transformer<float, dyn, dyn, dyn, triad::form::paper>(sizes), o, z);
  return on_backend(triad::edge_transformer<float>(sizes), o, z);
}

}  // namespace clutrr
