// Times one Edge Transformer layer in training, with the sizes for CLUTRR, and with an n that is too large for the
// papers' method.
// SPDX-License-Identifier: Apache-2.0

#include "triad/layers/edge_transformer_layer.hpp"

#include "check.hpp"
#include "layer_check.hpp"

namespace bench {
namespace {

template <class T>
triad::edge_transformer_layer<T> layer(shape const& z) {
  return triad::edge_transformer_layer<T>({.width = z.d, .heads = z.h, .hidden = 4 * z.d});
}

verdict check(shape const& z) {
  checker judge;
  bool const whole = z.b * z.n * z.n * z.n * z.d <= 100'000'000;
  auto const graphs = whole ? equal_graphs(z.b, z.n) : equal_graphs(1, 45);
  if (auto wrong = check_layer(machine(), judge, layer<float>(z), layer<double>(z), graphs)) return wrong;
  return whole ? std::nullopt : triangle_problem(machine(), triad::triangle_form::full, z).check();
}

void run(benchmark::State& state, shape const& z) {
  using problem = layer_problem<float, triad::edge_transformer_layer<float>, triad::cpu::backend>;
  equal_graphs const graphs(z.b, z.n);
  auto const bytes = problem(machine(), layer<float>(z), graphs, true, true).bytes();
  if (!may_time(state, "edge_transformer_layer/" + z.name(), bytes + bytes / 4, [&] { return check(z); })) return;
  work_model model;
  model.projections(triad::triangle_form::full, z.rows(), z.d, true);
  model.feed_forward(z.rows(), z.d, 4 * z.d, z.d, true);
  model.triangle(triad::triangle_form::full, z.b, z.n, z.d, z.h, true);
  problem p(machine(), layer<float>(z), graphs, true);
  time_work(state, {.model = model, .planned = p.planned_bytes(), .total = p.bytes(), .warm = z.n < 512},
            [&] { p.run(true); });
}

[[maybe_unused]] bool const registered = [] {
  for (shape const& z : {shape{400, 5, 200, 4}, shape{1, 32, 200, 4}, shape{1, 64, 200, 4}, shape{1, 128, 200, 4},
                         shape{1, 512, 128, 4}})
    benchmark::RegisterBenchmark(("edge_transformer_layer/train/" + z.name()).c_str(), [=](benchmark::State& state) {
      run(state, z);
    })->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace bench
