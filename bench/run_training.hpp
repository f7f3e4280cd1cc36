// Benchmarks of training steps. A step is first checked and then timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "check.hpp"
#include "training_problem.hpp"

namespace bench {

struct training_options {
  bool floor = true;  // false: reports GFLOP/s without a floor
  bool warm = true;   // false: no warm-up, for work of many seconds
};

/// Checks a training step and then times it.  `checked` is the same model on a smaller batch, which the reference
/// backend can compute.
template <class Task, class Checked>
void run_training(benchmark::State& state, std::string const& name, Task const& task, Checked const& checked,
                  training_options const& o = {}) {
  using problem = training_problem<float, Task, triad::cpu::backend>;
  auto const parts = problem::bytes(machine(), task);
  checker judge;
  if (!may_time(state, name, parts.total() + parts.total() / 4,
                [&] { return check_training(machine(), judge, checked); }))
    return;
  problem p(machine(), task);
  timing const t{.model = task.count_work(),
                 .planned = parts.saved + parts.scratch,
                 .total = parts.total(),
                 .floor = o.floor,
                 .warm = o.warm};
  double const seconds = time_work(state, t, [&] { p.step(); });
  state.counters["examples/s"] = static_cast<double>(task.examples()) / seconds;
  if constexpr (requires { task.tokens(); }) state.counters["tokens/s"] = static_cast<double>(task.tokens()) / seconds;
}

/// Registers a benchmark that calls run_training(), with the name `name` + `shape`, and another in bf16.
template <class Task, class Checked>
void register_training(std::string const& name, std::string const& shape, Task const& task, Checked const& checked,
                       training_options const& o = {}) {
  register_precisions(
      name + shape, [=](benchmark::State& state) { run_training(state, name + precision_suffix(), task, checked, o); });
}

}  // namespace bench
