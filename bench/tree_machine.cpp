// Times training steps of the Differentiable Tree Machine in two forms: as in the paper, and with roots that are
// distributions and an empty tree.  For comparison, also times the same machine computed by matrices.
// SPDX-License-Identifier: Apache-2.0

#include "run_training.hpp"
#include "tree_task.hpp"

namespace bench {
namespace {

[[maybe_unused]] bool const registered = [] {
  for (auto const& [depth, steps] : {std::pair<index_t, index_t>{8, 8}, {10, 16}, {12, 16}}) {
    tree_task t;
    t.depth = depth, t.steps = steps;
    auto const shape = name_of({{"depth", depth}, {"steps", steps}, {"b", t.batch}, {"f", t.symbols}, {"d", t.width}});
    register_training("tree_machine_step", shape, t, t.small());
    auto with = t;
    with.ours = true;
    register_training("tree_machine_with_empty_tree_step", shape, with, with.small());
    if (depth > 10) continue;  // to make the matrices would take minutes
    matrix_tree_task m;
    m.depth = depth, m.steps = steps;
    register_training("tree_machine_by_matrices_step", shape, m, m.small(), {.floor = false});
  }
  return true;
}();

}  // namespace
}  // namespace bench
