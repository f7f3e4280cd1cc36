// Counts right answers of a model whose output is not a list of logits.
// expect: evaluate: it counts right answers of models with logits (rows, classes) and one target a row
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "triad/batches/graph_loader.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/evaluate.hpp"
#include "triad/train/trainer.hpp"

using backend = triad::reference::backend;
#ifdef MISUSE
using model = triad::tree_machine<float>;
using batch_loader = triad::tree_loader<backend, float>;
#else
using model = triad::edge_transformer<float>;
using batch_loader = triad::graph_loader<backend>;
#endif

void score(triad::trainer<model, backend>& learner, batch_loader& loader, std::vector<int> const& data) {
  triad::evaluate(learner, loader, data, [](auto&, int) {});
}
