// Passes a trainer instead of its parameters.
// expect: initialize: it takes parameters, and this has some: initialize(learner.parameters(), seed)
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

using namespace triad;

void begin(trainer<edge_transformer<float>, reference::backend>& learner) {
#ifdef MISUSE
  initialize(learner, 1);
#else
  initialize(learner.parameters(), 1);
#endif
}
