// The paper's relation-aware baselines as networks of this program.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/relation_transformer.hpp"

#include "on_backend.hpp"

namespace clutrr {

std::unique_ptr<network> make_relation_model(options const& o, network_sizes const& z) {
  if (o.attention != triad::triangle_form::full || o.paper_form)
    throw triad::data_error("--attention and --paper-form are about triangular attention, which " + o.model + " does not have");
  triad::relation_transformer_sizes const sizes{
      .labels = z.labels, .targets = z.targets, .layers = o.layers, .tied = !o.untied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = o.width * o.hidden_factor, .dropout = o.dropout}};
  if (o.model == "rat") return on_backend(triad::relation_aware_transformer<float>(sizes), o, z);
  return on_backend(triad::relation_updating_transformer<float>(sizes), o, z);
}

}  // namespace clutrr
