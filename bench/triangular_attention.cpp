// Times triangular attention with its projections, in inference and in training, and the papers' method for comparison.
// Also times the causal form, a bias of the scores, and the plain form, all without projections.
// SPDX-License-Identifier: Apache-2.0

#include "triad/layers/triangular_attention.hpp"

#include <optional>

#include "check.hpp"
#include "layer_check.hpp"
#include "materialising.hpp"

namespace bench {
namespace {

using triad::triangle_form;

/// If the reference backend needs only seconds, checks the whole layer.  Otherwise checks all results on a smaller
/// graph, and a few edges of this graph.
template <class Layer>
verdict check(Layer const& layer, triangle_form form, shape const& z) {
  checker judge;
  if (z.b * z.n * z.n * z.n * z.d <= 100'000'000)
    return check_layer(machine(), judge, layer, attention<double>(form, z), {z.b, z.n, z.sources});
  if (auto wrong = check_layer(machine(), judge, layer, attention<double>(form, z), {1, 45, z.sources})) return wrong;
  if constexpr (std::is_same_v<Layer, triad::triangular_attention<float>>)
    return triangle_problem(machine(), form, z).check();
  return std::nullopt;
}

template <class Layer>
void run(benchmark::State& state, std::string const& name, Layer const& layer, triangle_form form, shape const& z,
         bool train, bool with_floor) {
  using problem = layer_problem<float, Layer, triad::cpu::backend>;
  equal_graphs const graphs(z.b, z.n, z.sources);
  auto const bytes = problem(machine(), layer, graphs, train, true).bytes();
  if (!may_time(state, name + z.name() + precision_suffix(), bytes + bytes / 16, [&] { return check(layer, form, z); }))
    return;
  work_model model;
  model.projections(form, z.rows(), z.d, train);
  model.triangle(form, z.b, z.n, z.d, z.h, train, 1, z.share_of_triples());
  problem p(machine(), layer, graphs, train);
  time_work(state, {.model = model, .planned = p.planned_bytes(), .total = p.bytes(), .floor = with_floor},
            [&] { p.run(train); });
}

void add(std::string const& name, triangle_form form, shape const& z) {
  for (bool const train : {false, true})
    register_precisions(name + (train ? "/train/" : "/forward/") + z.name(), [=](benchmark::State& state) {
      run(state, name, attention<float>(form, z), form, z, train, true);
    });
}

/// Benchmarks the operation without its projections.  With projections, the time that the causal form saves, or that a
/// bias takes, would be hard to see.
void add_alone(shape const& z, std::string const& what = "triangle",
               std::optional<triad::triangle_bias_axes> const& bias = {}) {
  for (bool const train : {false, true}) {
    std::string const name = what + std::string(train ? "/train/" : "/forward/") + z.name();
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      auto const bytes = static_cast<std::size_t>(z.rows() * z.d) * 4 * 24;  // including the arrays of the projections
      if (!may_time(state, name + z.name() + precision_suffix(), bytes,
                    [&] { return triangle_problem(machine(), triangle_form::full, z, bias).check(); }))
        return;
      work_model model;
      model.triangle(triangle_form::full, z.b, z.n, z.d, z.h, train, 1, z.share_of_triples());
      triangle_problem p(machine(), triangle_form::full, z, bias);
      time_work(state, {.model = model}, [&] { p.run(train); });
      state.counters["share_of_triples"] = z.share_of_triples();
    })->Unit(benchmark::kMillisecond);
  }
}

void add_materialising(shape const& z) {
  std::string const name = "triangular_attention_materialising";
  for (bool const train : {false, true})
    benchmark::RegisterBenchmark((name + (train ? "/train/" : "/forward/") + z.name()).c_str(),
                                 [=](benchmark::State& state) {
                                   run(state, name, materialising_attention{attention<float>(triangle_form::full, z)},
                                       triangle_form::full, z, train, false);
                                 })
        ->Unit(benchmark::kMillisecond);
}

/// Batches of small graphs have about ten thousand edges.  From n = 32 on there is also a batch of one graph.
[[maybe_unused]] bool const registered = [] {
  struct {
    index_t b, n;
  } const sizes[] = {{400, 5}, {160, 8}, {40, 16}, {10, 32}, {1, 32}, {1, 64}, {1, 128}, {1, 256}};
  struct {
    index_t d, h;
  } const widths[] = {{200, 4}, {256, 8}};
  for (auto const& w : widths)
    for (auto const& s : sizes) {
      add("triangular_attention", triangle_form::full, {s.b, s.n, w.d, w.h});
      add_materialising({s.b, s.n, w.d, w.h});
    }
  for (auto const& s : {sizes[0], sizes[4], sizes[5]}) {
    add("triangular_attention_value_ablation", triangle_form::value_ablation, {s.b, s.n, 200, 4});
    add("triangular_attention_attention_ablation", triangle_form::attention_ablation, {s.b, s.n, 200, 4});
  }
  shape const causal[] = {
      {1, 65, 256, 8, 15}, {1, 128, 256, 8, 30}, {1, 16, 200, 4, 4}, {40, 16, 200, 4, 4}, {400, 5, 200, 4, 1}};
  add("triangular_attention", triangle_form::full, {1, 65, 256, 8});
  for (auto const& c : causal) {
    if (c.n > 16) add("triangular_attention", triangle_form::full, c);
    add_alone({c.b, c.n, c.d, c.h});
    add_alone(c);
  }
  // Narrow heads, whose graphs are in tiles from fewer nodes on (cpu/triangle/small.hpp).
  for (index_t const d : {32, 64, 128})
    for (index_t const n : {12, 16, 20}) add_alone({9000 / (n * n), n, d, 4});
  // A bias of each triangle, and one that all graphs and all sources share, as the edges (l, j) may give it.
  shape const of_bias{1, 64, 200, 4};
  add_alone(of_bias);
  add_alone(of_bias, "triangle_with_bias", triad::triangle_bias_axes{});
  add_alone(of_bias, "triangle_with_shared_bias", triad::triangle_bias_axes{.graphs = false, .i = false});
  return true;
}();

}  // namespace
}  // namespace bench
