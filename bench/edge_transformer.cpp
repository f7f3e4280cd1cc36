// Whole training steps of the Edge Transformer: CLUTRR and COGS with the papers' settings, and one graph of 512 nodes with
// recomputation.
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "training_problem.hpp"
#include "training_tasks.hpp"

namespace bench {
namespace {

/// `checked`: the same model on a batch that the reference can do.
template <class Task>
void run(benchmark::State& state, std::string const& name, Task const& task, Task const& checked, bool warm = true) {
  using problem = training_problem<float, Task, triad::cpu::backend>;
  auto const parts = problem::bytes(machine(), task);
  auto const bytes = parts.total();
  checker judge;
  if (!may_time(state, name, bytes + bytes / 4, [&] { return check_training(machine(), judge, checked); })) return;
  problem p(machine(), task);
  timing const t{.model = task.count_work(), .planned = parts.saved + parts.scratch, .total = bytes, .warm = warm};
  double const seconds = time_work(state, t, [&] { p.step(); });
  state.counters["examples/s"] = static_cast<double>(task.examples()) / seconds;
}

[[maybe_unused]] bool const registered = [] {
  auto const add = [](std::string const& name, auto f) { benchmark::RegisterBenchmark(name.c_str(), f)->Unit(benchmark::kMillisecond); };
  add("clutrr_step/b:400/l:8/d:200/h:4", [](benchmark::State& state) { run(state, "clutrr_step", clutrr(400), clutrr(100)); });
  add("cogs_step/b:100/l:3/d:64/h:4", [](benchmark::State& state) { run(state, "cogs_step", cogs(), cogs()); });
  add("edge_transformer/train/l:8/b:1/n:512/d:128/h:4",
      [](benchmark::State& state) { run(state, "edge_transformer", large(512), large(40), false); });
  return true;
}();

}  // namespace
}  // namespace bench
