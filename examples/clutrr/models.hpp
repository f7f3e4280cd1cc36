// The models of this program, made of its options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../common/model_sizes.hpp"
#include "network.hpp"
#include "triad/core/errors.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/relation_transformer.hpp"

namespace clutrr {

/// make(model) of the Edge Transformer that the options describe.
template <class Make>
std::unique_ptr<network> with_edge_transformer(options const& o, network_options const& z, Make&& make) {
  triad::edge_transformer_options const sizes{.labels = z.labels,
                                              .targets = z.targets,
                                              .layers = o.layers,
                                              .tied = o.tied,
                                              .layer = {.width = o.width,
                                                        .heads = o.heads,
                                                        .hidden = triad::examples::hidden_of(o),
                                                        .dropout = o.dropout,
                                                        .variant = o.attention}};
  using triad::dyn;
  if (o.paper_form) return make(triad::edge_transformer<float, dyn, dyn, dyn, triad::form::paper>(sizes));
  return make(triad::edge_transformer<float>(sizes));
}

/// make(model) of one of the paper's relation-aware baselines.
template <class Make>
std::unique_ptr<network> with_relation_model(options const& o, network_options const& z, Make&& make) {
  if (o.attention != triad::triangle_form::full || o.paper_form)
    throw triad::data_error("--attention and --paper-form are about triangular attention, which " + o.model +
                            " does not have");
  triad::relation_transformer_options const sizes{
      .labels = z.labels,
      .targets = z.targets,
      .layers = o.layers,
      .tied = o.tied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = triad::examples::hidden_of(o), .dropout = o.dropout}};
  if (o.model == "rat") return make(triad::relation_aware_transformer<float>(sizes));
  return make(triad::relation_updating_transformer<float>(sizes));
}

template <class Make>
std::unique_ptr<network> with_model(options const& o, network_options const& z, Make&& make) {
  return o.model == "edge-transformer" ? with_edge_transformer(o, z, make) : with_relation_model(o, z, make);
}

}  // namespace clutrr
