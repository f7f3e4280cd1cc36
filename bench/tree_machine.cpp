// Whole training steps of the Differentiable Tree Machine, beside those of its twin that works by matrices.
// SPDX-License-Identifier: Apache-2.0

#include "run_training.hpp"
#include "tree_task.hpp"

namespace bench {
namespace {

[[maybe_unused]] bool const registered = [] {
  for (auto const& [depth, steps] : {std::pair<index_t, index_t>{8, 8}, {10, 16}, {12, 16}}) {
    std::string const shape = "/depth:" + std::to_string(depth) + "/steps:" + std::to_string(steps) + "/b:16/f:101/d:64";
    tree_task t;
    t.depth = depth, t.steps = steps;
    benchmark::RegisterBenchmark(("tree_machine_step" + shape).c_str(), [t](benchmark::State& state) { run_training(state, "tree_machine_step", t, t.small()); })
        ->Unit(benchmark::kMillisecond);
    if (depth > 10) continue;  // the matrices' set-up alone takes minutes
    matrix_tree_task m;
    m.depth = depth, m.steps = steps;
    benchmark::RegisterBenchmark(("tree_machine_by_matrices_step" + shape).c_str(), [m](benchmark::State& state) { run_training(state, "tree_machine_by_matrices_step", m, m.small(), {.floor = false}); })
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
