// Asks a model for attention weights that it does not have.
// expect: trainer: this model has no attention_weights
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/trainer.hpp"

#ifdef MISUSE
using model = triad::relation_aware_transformer<float>;
#else
using model = triad::edge_transformer<float>;
#endif

void look(triad::trainer<model, triad::reference::backend>& learner, model::input const& in) {
  (void)learner.attention(in, {.layer = 0, .graph = 0, .edge = {0, 1}});
}
