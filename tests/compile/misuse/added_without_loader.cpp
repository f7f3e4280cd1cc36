// Passes a function that adds samples, but does not take the loader as an argument.
// expect: the last function is called as add_one(loader, sample), and this one cannot be
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "triad/batches/batches.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/reference/reference.hpp"

using namespace triad;

void pass(graph_loader<reference::backend>& loader, std::vector<int> const& data) {
#ifdef MISUSE
  auto const add = [](int) {};
#else
  auto const add = [](auto& to, int nodes) { to.add(nodes, 0, 0, 0); };
#endif
  for (auto const& batch : batches(loader, data, add)) (void)batch;
}
