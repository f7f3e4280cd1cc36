// Whole training steps of the Differentiable Tree Machine, beside those of its twin that works by matrices.
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "training_problem.hpp"
#include "tree_task.hpp"

namespace bench {
namespace {

template <class Task>
void run(benchmark::State& state, std::string const& name, Task const& task, bool with_floor) {
  using problem = training_problem<float, Task, triad::cpu::backend>;
  auto const parts = problem::bytes(machine(), task);
  checker judge;
  if (!may_time(state, name, parts.total() + parts.total() / 4, [&] { return check_training(machine(), judge, task.small()); })) return;
  problem p(machine(), task);
  double const seconds = time_work(state, {.model = task.count_work(), .planned = parts.saved + parts.scratch, .total = parts.total(), .floor = with_floor}, [&] { p.step(); });
  state.counters["examples/s"] = static_cast<double>(task.examples()) / seconds;
}

[[maybe_unused]] bool const registered = [] {
  for (auto const& [depth, steps] : {std::pair<index_t, index_t>{8, 8}, {10, 16}, {12, 16}}) {
    std::string const shape = "/depth:" + std::to_string(depth) + "/steps:" + std::to_string(steps) + "/b:16/f:101/d:64";
    tree_task t;
    t.depth = depth, t.steps = steps;
    benchmark::RegisterBenchmark(("tree_machine_step" + shape).c_str(), [t](benchmark::State& state) { run(state, "tree_machine_step", t, true); })
        ->Unit(benchmark::kMillisecond);
    if (depth > 10) continue;  // the matrices' set-up alone takes minutes
    matrix_tree_task m;
    m.depth = depth, m.steps = steps;
    benchmark::RegisterBenchmark(("tree_machine_by_matrices_step" + shape).c_str(), [m](benchmark::State& state) { run(state, "tree_machine_by_matrices_step", m, false); })
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
