// Tests that an Edge Transformer layer that computes the states of a causal graph node by node has the same results as
// for the whole graph.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/layers/edge_transformer_layer.hpp"

namespace layers_edge_transformer_layer_step_tests {

using namespace triad;

constexpr index_t d = 12, heads = 3;

/// Two layers over graphs that begin with s source nodes. In every step, a node is added to each graph. Each slot
/// continues its own hypothesis.
template <class Layer>
struct stack {
  using states = typename Layer::output;

  Layer layer;
  test::ragged sources;
  index_t steps, slots;
  std::vector<double> memory;          // memory of both layers' parameters
  std::vector<std::vector<double>> x;  // states of each graph: (n, n, d)
  std::vector<fields_of<Layer, double const>> w;

  stack(triangle_form variant, bool biased, std::vector<index_t> sizes, index_t more)
      : layer({.width = d, .heads = heads, .hidden = 20, .dropout = 0.5, .variant = variant, .attention_bias = biased}),
        sources(sizes),
        steps(more),
        slots(sources.dims.graphs) {
    auto const bytes = planned_bytes([&](arena& a) {
      for (int k = 0; k < 2; ++k) (void)plan<double const>(layer, a);
    });
    memory = test::random_values(static_cast<index_t>(bytes / sizeof(double)), 1, 0.6);
    arena place(memory.data(), bytes);
    for (int k = 0; k < 2; ++k) w.push_back(plan<double const>(layer, place));
    for (index_t g = 0; g < slots; ++g) {
      index_t const n = sizes[static_cast<std::size_t>(g)] + steps;
      x.push_back(test::random_values(n * n * d, static_cast<std::uint64_t>(2 + g), 1.5));
    }
  }

  /// Returns the states (n, n, d) of graph g after both layers, computed for all nodes together.
  std::vector<double> whole(index_t g) const {
    reference::backend ex;
    index_t const s = sources.size[static_cast<std::size_t>(g)], n = s + steps;
    test::ragged const one({n});
    std::vector<double> result(static_cast<std::size_t>(n * n * d));
    std::vector<double> between(result.size());
    buffer<> const kept(planned_bytes([&](arena& a) { (void)layer.plan_saved(a, one.dims, keep::nothing); }));
    auto place = kept.place();
    auto const saved = layer.plan_saved(place, one.dims, keep::nothing);
    test::with_scratch(ex, {}, [&](auto& any, call const& c) {
      auto const forward = [&](int k, std::vector<double> const& from, std::vector<double>& to) {
        typename Layer::input in{const_view<states>(from.data(), typename states::extents_type(n * n, d)), one.batch()};
        in.sources = make_vec<index_t const>(&s, 1);
        layer.forward(any, c, w[static_cast<std::size_t>(k)], in, saved,
                      states(to.data(), typename states::extents_type(n * n, d)));
      };
      forward(0, x[static_cast<std::size_t>(g)], between);
      forward(1, between, result);
    });
    return result;
  }
};

template <class Layer, class Ex>
void expect_whole(triangle_form variant, bool biased, shell_edges wanted) {
  Ex ex;
  stack<Layer> s(variant, biased, {3, 1, 6}, 4);
  std::vector<std::vector<double>> exact;
  for (index_t g = 0; g < s.slots; ++g) exact.push_back(s.whole(g));
  auto const g = s.sources.batch();
  edge_shells at{g, 1, s.steps, tensor<index_t const, dyn, dyn>(nullptr, s.slots, s.steps + 1)};
  index_t const rows = at.first_row(s.steps), width = s.layer.kept_of_edge(), most = at.rows(s.steps);
  std::vector<double> caches[2], x0(static_cast<std::size_t>(most * d)), x1(x0), x2(x0);
  for (auto& c : caches) c.assign(static_cast<std::size_t>(rows * width + 8), std::nan(""));
  auto const cache = [&](int k) { return tensor<double, dyn, dyn>(caches[k].data(), rows, width); };
  auto const state = [&](std::vector<double>& v, index_t count) {
    return typename Layer::output(v.data(), typename Layer::output::extents_type(count, d));
  };
  auto const of_graph = [&](std::vector<double> const& all, index_t graph, index_t i, index_t j) {
    return all.data() + (i * (s.sources.size[static_cast<std::size_t>(graph)] + s.steps) + j) * d;
  };
  auto const copy_edges = [&](index_t& row, index_t graph, index_t i, index_t j) {
    std::copy_n(of_graph(s.x[static_cast<std::size_t>(graph)], graph, i, j), d, x0.data() + row++ * d);
  };

  index_t row = 0;
  for (index_t b = 0; b < s.slots; ++b)
    for (index_t i = 0; i < g.size(b); ++i)
      for (index_t j = 0; j < g.size(b); ++j) copy_edges(row, b, i, j);
  test::with_scratch(ex, {}, [&](auto& any, call const& c) {
    s.layer.begin(any, c, s.w[0], state(x0, row), g, cache(0), state(x1, row));
    s.layer.begin(any, c, s.w[1], state(x1, row), g, cache(1),
                  wanted == shell_edges::all ? state(x2, row) : state(x2, 0));
  });
  for (index_t t = 0; t < s.steps; ++t) {
    CAPTURE(t);
    std::vector<index_t> owner, read;
    row = 0;
    for (index_t b = 0; b < s.slots; ++b) {
      index_t const a = g.size(b) + t;
      for (index_t u = 0; u <= t; ++u) owner.push_back(b);
      read.push_back(row + (wanted == shell_edges::diagonal ? a : g.size(b)));
      for (index_t i = 0; i <= a; ++i) copy_edges(row, b, i, a);
      for (index_t j = 0; j < a; ++j) copy_edges(row, b, a, j);
    }
    at.step = t;
    at.owner = tensor<index_t const, dyn, dyn>(owner.data(), s.slots, t + 1);
    REQUIRE(row == at.rows(t));
    vec<index_t const> const read_rows = make_vec<index_t const>(read.data(), s.slots), none(nullptr, 0);
    test::with_scratch(ex, {}, [&](auto& any, call const& c) {
      s.layer.extend(any, c, s.w[0], state(x0, row), at, shell_edges::all, none, cache(0), state(x1, row));
      s.layer.extend(any, c, s.w[1], state(x1, row), at, wanted, read_rows, cache(1), state(x2, at.count(wanted)));
    });
    double worst = 0;
    for (index_t r = 0; r < at.count(wanted); ++r) {
      auto const e = at.edge(wanted, r);
      auto const* const right = of_graph(exact[static_cast<std::size_t>(e.slot)], e.slot, e.i, e.j);
      for (index_t f = 0; f < d; ++f) {
        double const difference = std::abs(x2[static_cast<std::size_t>(r * d + f)] - right[f]);
        worst = test::worse(worst, difference);
      }
    }
    REQUIRE(worst < 1e-12);
  }
}

TEMPLATE_TEST_CASE("a layer makes of new edges what it makes of them in the whole causal graph", "",
                   TRIAD_TEST_BACKENDS) {
  using released = edge_transformer_layer<double>;
  using paper = edge_transformer_layer<double, dyn, dyn, dyn, form::paper>;
  using pre_norm = edge_transformer_layer<double, dyn, dyn, dyn, form::pre_norm>;
  for (auto wanted : {shell_edges::all, shell_edges::diagonal, shell_edges::first}) {
    CAPTURE(static_cast<int>(wanted));
    for (auto variant : {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation,
                         triangle_form::both_ablations})
      expect_whole<released, TestType>(variant, variant != triangle_form::value_ablation, wanted);
    expect_whole<paper, TestType>(triangle_form::full, true, wanted);
    expect_whole<pre_norm, TestType>(triangle_form::full, true, wanted);
    expect_whole<edge_transformer_layer<double, d, heads, 20>, TestType>(triangle_form::full, true, wanted);
  }
}

}  // namespace layers_edge_transformer_layer_step_tests
