// Triangular attention with its projections, forward and training, and the same computed the papers' way.
// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "materialising.hpp"
#include "problem.hpp"
#include "triad/layers/triangular_attention.hpp"

namespace bench {
namespace {

using triad::triangle_form;

template <class T>
triad::triangular_attention<T> attention(triangle_form form, shape const& z) {
  return {triad::extents<triad::dyn, triad::dyn>(z.d, z.h), form};
}

/// All results against the reference in double.
template <class Layer>
verdict check_all(Layer const& layer, triangle_form form, shape const& z) {
  equal_graphs const graphs(z.b, z.n);
  checker judge;
  layer_problem<float, Layer, triad::cpu::backend> found(machine(), layer, graphs, true);
  layer_problem<double, triad::triangular_attention<double>, checker> expected(judge, attention<double>(form, z), graphs, true);
  found.run(true);
  expected.run(true);
  if (auto wrong = compare_views("y", found.y(), expected.y())) return wrong;
  if (auto wrong = compare_views("dx", found.dx(), expected.dx())) return wrong;
  return compare_fields(found.gradient(), expected.gradient());
}

/// The triangle alone, at its full size, at a few edges.
verdict check_edges(triangle_form form, shape const& z) {
  auto const layer = attention<float>(form, z);
  equal_graphs const graphs(z.b, z.n);
  layer_problem<float, triad::triangular_attention<float>, triad::cpu::backend> found(machine(), layer, graphs, false);
  found.run(false);
  auto const& s = found.saved();
  triad::triangle_settings const settings{form, z.h};
  auto const x = layer.split(triad::read_only(s.projected));
  triad::triangle_statistics<float const> const statistics{triad::as_matrix(triad::read_only(s.maximum)), triad::as_matrix(triad::read_only(s.inverse_sum))};
  auto const o = triad::as_matrix(triad::read_only(s.mixed)), d_o = triad::as_matrix(triad::read_only(found.y()));  // any gradient will do
  triad::triangle_projections<float> d{};
  triad::buffer<> const memory(static_cast<std::size_t>(4 * z.rows() * layer.projections() * z.d) + triad::arena_slack);
  d = layer.split(triad::tensor<float, triad::dyn, triad::dyn>(static_cast<float*>(memory.data()), z.rows(), layer.projections() * z.d));
  auto const scratch_bytes = triad::planned_scratch(machine(), {}, [&](auto& ex, triad::call const& c) {
    triad::triangle_grad<std::remove_reference_t<decltype(ex)>, float>(ex, *c.scratch, settings, x, graphs.view(), statistics, o, d_o, d);
  });
  triad::buffer<> const scratch(scratch_bytes);
  auto place = scratch.place();
  triad::triangle_grad<triad::cpu::backend, float>(machine(), place, settings, x, graphs.view(), statistics, o, d_o, d);
  return sampled_triangle(settings, x, graphs.view(), o, d_o).check(d, 6);
}

/// The whole check up to what the reference does in seconds; beyond that the whole of a smaller graph, and single edges of this one.
template <class Layer>
verdict check(Layer const& layer, triangle_form form, shape const& z) {
  if (z.b * z.n * z.n * z.n * z.d <= 100'000'000) return check_all(layer, form, z);
  if (auto wrong = check_all(layer, form, {1, 45, z.d, z.h})) return wrong;
  if constexpr (std::is_same_v<Layer, triad::triangular_attention<float>>) return check_edges(form, z);
  return std::nullopt;
}

template <class Layer>
void run(benchmark::State& state, std::string const& name, Layer const& layer, triangle_form form, shape const& z, bool train, bool with_floor) {
  using problem = layer_problem<float, Layer, triad::cpu::backend>;
  equal_graphs const graphs(z.b, z.n);
  auto const bytes = problem(machine(), layer, graphs, train, true).bytes();
  if (!may_time(state, name + z.name(), bytes + bytes / 8, [&] { return check(layer, form, z); })) return;
  work_model model;
  model.projections(form, z.rows(), z.d, train);
  model.triangle(form, z.b, z.n, z.d, z.h, train);
  problem p(machine(), layer, graphs, train);
  time_work(state, model, with_floor, p.planned_bytes(), [&] { p.run(train); });
}

void add(std::string const& name, triangle_form form, shape const& z) {
  for (bool const train : {false, true})
    benchmark::RegisterBenchmark((name + (train ? "/train/" : "/forward/") + z.name()).c_str(), [=](benchmark::State& state) {
      run(state, name, attention<float>(form, z), form, z, train, true);
    })->Unit(benchmark::kMillisecond);
}

void add_materialising(shape const& z) {
  std::string const name = "triangular_attention_materialising";
  for (bool const train : {false, true})
    benchmark::RegisterBenchmark((name + (train ? "/train/" : "/forward/") + z.name()).c_str(), [=](benchmark::State& state) {
      run(state, name, materialising_attention{attention<float>(triangle_form::full, z)}, triangle_form::full, z, train, false);
    })->Unit(benchmark::kMillisecond);
}

/// About ten thousand edges where graphs are small; from n = 32 on also one graph alone.
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
  return true;
}();

}  // namespace
}  // namespace bench
