// Whole training steps of the Edge Transformer: CLUTRR with the paper's settings, and one graph of 512 nodes with recomputation.
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "model_problem.hpp"

namespace bench {
namespace {

/// `checked`: the same model on a batch that the reference can do.
void run(benchmark::State& state, std::string const& name, model_settings const& s, model_settings const& checked, bool warm) {
  auto const parts = model_problem<float, triad::cpu::backend>::bytes(machine(), s);
  auto const bytes = parts.total();
  checker judge;
  if (!may_time(state, name, bytes + bytes / 4, [&] { return check_model(machine(), judge, checked); })) return;
  model_problem<float, triad::cpu::backend> p(machine(), s);
  timing const t{.model = count_work(s), .planned = parts.saved + parts.scratch, .total = bytes, .warm = warm};
  double const seconds = time_work(state, t, [&] { p.step(); });
  state.counters["examples/s"] = static_cast<double>(s.nodes.size()) / seconds;
}

[[maybe_unused]] bool const registered = [] {
  auto const add = [](std::string const& name, auto f) { benchmark::RegisterBenchmark(name.c_str(), f)->Unit(benchmark::kMillisecond); };
  add("clutrr_step/b:400/l:8/d:200/h:4", [](benchmark::State& state) { run(state, "clutrr_step", clutrr(400), clutrr(100), true); });
  add("edge_transformer/train/l:8/b:1/n:512/d:128/h:4",
      [](benchmark::State& state) { run(state, "edge_transformer", large(512), large(40), false); });
  return true;
}();

}  // namespace
}  // namespace bench
