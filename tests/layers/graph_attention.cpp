// Tests a layer of a graph attention network: its equations, its gradient, static and dynamic sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/graph_attention.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"
#include "tests/ragged.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_graph_attention_tests {

using namespace triad;

constexpr index_t width = 6, heads = 2, head_width = width / heads;

template <class View, class Values>
View view_of(Values& values, index_t columns) {
  return View(values.data(), static_cast<index_t>(values.size()) / columns, columns);
}

// A layer together with the memory for one call. The value and all gradients are functions of all arguments.
template <class Layer, class Ex>
struct bench {
  using input = typename Layer::input;
  using state = typename Layer::output;

  test::ragged graphs;
  index_t nodes = graphs.dims.nodes, rows = graphs.dims.rows, width, heads;
  Layer layer;
  Ex ex;
  parameter_set<Layer, Ex> params;
  std::vector<index_t> label;
  variables at;  // parameters, then x, the edges' scores, the edges' values
  std::vector<double> y, dy;
  edge_gradients how = edge_gradients::overwritten;
  std::uint64_t step = 6;

  explicit bench(graph_attention_layer_options const& o, std::vector<index_t> const& sizes = {3, 1, 4})
      : graphs(sizes),
        width(o.width),
        heads(o.heads),
        layer(o),
        params(layer, holding::gradients),
        y(static_cast<std::size_t>(nodes * width)),
        dy(test::random_values(nodes * width, 4)) {
    random_stream random(4, 5);
    for (index_t r = 0; r < rows; ++r) label.push_back(random.below(3) == 0);
    walk(params.values(), [&](std::string const& path, auto view) {
      at.push_back({path, test::random_values(static_cast<index_t>(view.size()), 10 + at.size())});
    });
    at.push_back({"x", test::random_values(nodes * width, 1)});
    at.push_back({"edge score", test::random_values(rows * heads, 2)});
    at.push_back({"edge value", test::random_values(rows * width, 3)});
  }
  std::vector<double> const& of(std::string const& path) const {
    for (auto const& v : at)
      if (v.path == path) return v.values;
    throw contract_violation("the bench has no " + path);
  }

  // Returns y . dy at a point. If `gradient` is given, also computes the gradient of this number with respect to every
  // argument.
  double run(variables const& point, variables* gradient = nullptr) {
    auto const last = point.size() - 3;
    std::size_t t = 0;
    walk(params.mutable_values(), [&](std::string const&, auto to) {
      std::copy(point[t].values.begin(), point[t].values.end(), to.data_handle()), ++t;
    });
    test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, graphs.dims); });
    auto place = memory.place();
    auto const saved = layer.plan_saved(place, graphs.dims);
    input const in{view_of<decltype(input::x)>(point[last].values, width),
                   view_of<decltype(input::edge_score)>(point[last + 1].values, heads),
                   view_of<decltype(input::edge_value)>(point[last + 2].values, width), graphs.batch(),
                   make_vec<index_t const>(label.data(), rows)};
    call c;
    c.train = true;
    c.step = &step;
    if (gradient) params.zero_gradients(ex);
    test::with_scratch(ex, c, [&](auto& backend, call const& use) {
      layer.forward(backend, use, params.values(), in, saved, view_of<state>(y, width));
      if (!gradient) return;
      using edges_gradient = typename Layer::edges_gradient;
      auto& d = *gradient;
      layer.backward(backend, use, params.values(), in, saved, view_of<const_view<state>>(dy, width),
                     view_of<state>(d[last].values, width), params.gradients(),
                     {view_of<decltype(edges_gradient::score)>(d[last + 1].values, heads),
                      view_of<state>(d[last + 2].values, width), how});
    });
    t = 0;
    if (gradient)
      walk(params.gradients(), [&](std::string const&, auto view) {
        (*gradient)[t++].values.assign(view.data_handle(), view.data_handle() + view.size());
      });
    return test::product(y, dy);
  }
  variables gradients() {
    variables d = at;
    run(at, &d);
    return d;
  }
  gradient_report check() {
    return gradient_check(
        at, [&](variables const& point) { return run(point); },
        [&](variables const& point, variables& d) { run(point, &d); });
  }
};

TEMPLATE_TEST_CASE("a graph attention layer has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  for (double rate : {0.0, 0.3}) {
    CAPTURE(rate);
    CHECK_GRADIENT(bench<graph_attention_layer<double>, TestType>({width, heads, rate}).check());
  }
}

TEMPLATE_TEST_CASE("graph attention layers of many shapes have the gradients of their values", "",
                   TRIAD_TEST_BACKENDS) {
  random_stream random(19, 44);
  for (int drawn = 0; drawn < (test::is_device<TestType> ? 2 : 30); ++drawn) {
    std::vector<index_t> sizes(1 + random.below(3));
    for (auto& n : sizes) n = 1 + static_cast<index_t>(random.below(5));
    index_t const h = 1 + static_cast<index_t>(random.below(3)),
                  d = h * (h == 1 ? 4 : 2 + static_cast<index_t>(random.below(4)));
    double const rate = random.below(3) == 0 ? 0.3 : 0.0;
    bench<graph_attention_layer<double>, TestType> b({d, h, rate}, sizes);
    auto const often = random.below(4);  // about `often` quarters of the edges have a label
    for (auto& label : b.label) label = random.below(4) < often;
    CAPTURE(drawn, sizes, d, h, rate, b.label);
    CHECK_GRADIENT(b.check());
  }
}

TEMPLATE_TEST_CASE("graph attention layers that share the parts of edges add to their gradients", "",
                   TRIAD_TEST_BACKENDS) {
  bench<graph_attention_layer<double>, TestType> b({width, heads});
  auto const once = b.gradients();
  b.how = edge_gradients::added;
  variables twice = once;
  b.run(b.at, &twice);
  for (auto part : {once.size() - 2, once.size() - 1})
    for (std::size_t i = 0; i < once[part].values.size(); ++i)
      CHECK_THAT(twice[part].values[i], test::WithinAbs(2 * once[part].values[i], 1e-13));
}

// Computes the equations in separate loops, for comparison.
TEST_CASE("a graph attention layer is the norm of its input and elu of what its nodes attend to") {
  bench<graph_attention_layer<double>, reference::backend> b({width, heads});
  b.run(b.at);
  auto const &w = b.of("value.weight"), &query = b.of("query"), &key = b.of("key"), &x = b.of("x"),
             &score = b.of("edge score"), &edge = b.of("edge value"), &gain = b.of("norm.gain"),
             &bias = b.of("norm.bias");
  std::vector<std::size_t> const sizes{3, 1, 4};
  std::size_t node = 0, row = 0;
  auto const d = std::size_t{width}, k = std::size_t{head_width}, h = std::size_t{heads};
  for (auto n : sizes) {
    std::vector<std::vector<double>> v(n, std::vector<double>(d));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t f = 0; f < d; ++f)
        for (std::size_t e = 0; e < d; ++e) v[i][f] += w[f * d + e] * x[(node + i) * d + e];
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> t(d);
      for (std::size_t c = 0; c < h; ++c) {
        std::vector<double> p(n);
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
          if (i != j && b.label[row + i * n + j] == 0 && b.label[row + j * n + i] == 0) continue;
          double z = score[(row + i * n + j) * h + c];
          for (std::size_t e = 0; e < k; ++e)
            z += query[c * k + e] * v[i][c * k + e] + key[c * k + e] * v[j][c * k + e];
          sum += p[j] = std::exp(z > 0 ? z : 0.2 * z);
        }
        for (std::size_t f = c * k; f < (c + 1) * k; ++f)
          for (std::size_t j = 0; j < n; ++j) t[f] += p[j] / sum * (v[j][f] + edge[(row + i * n + j) * d + f]);
      }
      double mean = 0, square = 0;
      for (std::size_t f = 0; f < d; ++f) {
        t[f] = x[(node + i) * d + f] + (t[f] > 0 ? t[f] : std::exp(t[f]) - 1);
        mean += t[f] / static_cast<double>(d);
      }
      for (double v_f : t) square += (v_f - mean) * (v_f - mean) / static_cast<double>(d);
      for (std::size_t f = 0; f < d; ++f)
        CHECK_THAT(b.y[(node + i) * d + f],
                   test::WithinAbs(gain[f] * (t[f] - mean) / std::sqrt(square + 1e-5) + bias[f], 1e-12));
    }
    node += n, row += n * n;
  }
}

TEST_CASE("graph attention layers of static and of dynamic shape compute the same bits") {
  graph_attention_layer_options const o{width, heads, 0.3};
  bench<graph_attention_layer<double, width, heads>, reference::backend> fixed(o);
  bench<graph_attention_layer<double>, reference::backend> free(o);
  auto const a = fixed.gradients(), b = free.gradients();
  CHECK(fixed.y == free.y);
  test::expect_same(a, b);
}

TEST_CASE("a graph attention layer lists its parameters by name") {
  CHECK(test::paths_of(graph_attention_layer<double>({width, heads})) ==
        std::vector<std::string>{"value.weight", "query", "key", "norm.gain", "norm.bias"});
}

TEST_CASE("a graph attention layer whose heads do not divide its width is refused with a sentence") {
  CHECK_THROWS_WITH(graph_attention_layer<double>({6, 4}), test::contains("heads that divide the width"));
}

}  // namespace layers_graph_attention_tests
