// Makes a pass over data that are a temporary, which ends with the expression.
// expect: batches: the data are a temporary, which ends before the pass does
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "triad/batches/batches.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/reference/backend.hpp"

void pass(triad::graph_loader<triad::reference::backend>& loader) {
  using data = std::vector<triad::index_t>;
  auto const add_one = [](auto& batch, triad::index_t n) { batch.add(n, 0, 0, 0); };
#ifdef MISUSE
  triad::batches(loader, data{2, 3}, add_one);
#else
  data const kept{2, 3};
  triad::batches(loader, kept, add_one);
#endif
}
