// The layers of relation-aware Transformers: gradients, what pruning leaves out, static and dynamic shapes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/relation_layer.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/layers/relation_update_layer.hpp"
#include "triad/train/gradient_check.hpp"

namespace {

using namespace triad;
using test::ragged;

constexpr index_t width = 6;

// Graphs of 3, 1 and 4 nodes; the last node of the last one is padding.
struct setting {
  ragged graphs{{3, 1, 4}};
  index_t nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  std::vector<std::uint8_t> masked;
  std::vector<index_t> source{0, 3, 5}, target{2, 3, 4}, edge{2, 9, 14};  // of edges (0, 2), (0, 0), (1, 0)

  setting() : masked(static_cast<std::size_t>(rows)) {
    for (index_t x = 0; x < 4; ++x)
      for (index_t y = 0; y < 4; ++y) masked[static_cast<std::size_t>(10 + 4 * x + y)] = x == 3 || y == 3;
  }
  edge_mask mask() const { return {make_vec<std::uint8_t const>(masked.data(), rows)}; }
  node_pairs ends() const {
    return {make_vec<index_t const>(source.data(), 3), make_vec<index_t const>(target.data(), 3)};
  }
  edge_reads read() const { return {make_vec<index_t const>(edge.data(), 3), ends()}; }
};

template <class View, class Values>
View view_of(Values& values, index_t columns) {
  return View(values.data(), static_cast<index_t>(values.size()) / columns, columns);
}

// One layer with the memory of one use; what a test asks of it: the value and all gradients, as functions of all
// arguments.
template <class Layer, class Ex>
struct bench {
  using T = double;
  using given = decltype(Layer::input::x);
  using state = tensor<T, dyn, static_cast<index_t>(given::static_extent(1))>;
  static constexpr bool updates = requires(typename Layer::input in) { in.g; };

  setting s;
  Layer layer;
  Ex ex;
  bool pruned, nodes_wanted;  // nodes_wanted: of a layer that updates edges
  parameter_set<Layer, Ex> params;
  std::vector<double> x, edges, y_nodes, y_edges, dx, d_edges;
  std::uint64_t step = 6;

  bench(relation_layer_options const& o, bool prune, bool want_nodes = true)
      : layer(o),
        pruned(prune),
        nodes_wanted(want_nodes),
        params(layer, holding::gradients),
        x(test::random_values(s.nodes * width, 1)),
        edges(test::random_values(s.rows * width * (updates ? 1 : 2), 2)),
        dx(x.size()),
        d_edges(edges.size()) {
    index_t const node_rows = updates  ? (nodes_wanted ? s.nodes : 0)
                              : pruned ? 6
                                       : s.nodes,
                  edge_rows = updates ? (pruned ? 3 : s.rows) : 0;
    y_nodes.resize(static_cast<std::size_t>(node_rows * width));
    y_edges.resize(static_cast<std::size_t>(edge_rows * width));
    random_stream random(4, 5);
    walk(params.mutable_values(), [&](std::string const&, auto view) {
      for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = random.uniform(-0.7, 0.7);
    });
  }

  typename Layer::input input() {
    auto const nodes = view_of<const_view<state>>(x, width);
    if constexpr (updates)
      return {nodes, view_of<const_view<state>>(edges, width), s.graphs.batch(), s.mask(),
              pruned ? s.read() : edge_reads{}};
    else
      return {nodes, view_of<tensor<T const, dyn, dyn>>(edges, 2 * width), s.graphs.batch(), s.mask(),
              pruned ? s.ends() : node_pairs{}};
  }
  auto plan(arena& place) const {
    return layer.plan_saved(place, s.graphs.dims, keep::everything, pruned ? (updates ? 3 : 6) : 0);
  }

  // y, then, if asked, every gradient for the cotangents dy.
  void run(bool back) {
    test::spoiled_memory const memory([&](arena& a) { return plan(a); });
    auto place = memory.place();
    auto const saved = plan(place);
    auto const dy_nodes = test::random_values(static_cast<index_t>(y_nodes.size()), 7),
               dy_edges = test::random_values(static_cast<index_t>(y_edges.size()), 8);
    if (back) params.zero_gradients(ex);
    call c;
    c.train = true;
    c.step = &step;
    test::with_scratch(ex, c, [&](auto& backend, call const& use) {
      auto const in = input();
      auto const nodes = view_of<state>(y_nodes, width), d_nodes = view_of<state>(dx, width);
      if constexpr (updates) {
        layer.forward(backend, use, params.values(), in, saved, {nodes, view_of<state>(y_edges, width)});
        if (back)
          layer.backward(backend, use, params.values(), in, saved,
                         {view_of<const_view<state>>(dy_nodes, width), view_of<const_view<state>>(dy_edges, width)},
                         {d_nodes, view_of<state>(d_edges, width)}, params.gradients());
      } else {
        layer.forward(backend, use, params.values(), in, saved, nodes);
        if (back)
          layer.backward(backend, use, params.values(), in, saved, view_of<const_view<state>>(dy_nodes, width), d_nodes,
                         params.gradients(),
                         {view_of<tensor<T, dyn, dyn>>(d_edges, 2 * width), edge_gradients::overwritten});
      }
    });
  }

  double value() {
    run(false);
    double sum = 0;
    for (auto const& [y, stream] : {std::pair(&y_nodes, 7), std::pair(&y_edges, 8)}) {
      auto const dy = test::random_values(static_cast<index_t>(y->size()), static_cast<std::uint64_t>(stream));
      for (std::size_t i = 0; i < dy.size(); ++i) sum += (*y)[i] * dy[i];
    }
    return sum;
  }
  variables point() {
    variables all;
    walk(params.values(), [&](std::string const& path, auto view) {
      all.push_back({path, {view.data_handle(), view.data_handle() + view.size()}});
    });
    all.push_back({"x", x});
    all.push_back({"edges", edges});
    return all;
  }
  void place(variables const& at) {
    std::size_t t = 0;
    walk(params.mutable_values(), [&](std::string const&, auto view) {
      std::copy(at[t].values.begin(), at[t].values.end(), view.data_handle()), ++t;
    });
    x = at[t].values;
    edges = at[t + 1].values;
  }
  variables gradients() {
    run(true);
    variables all;
    walk(params.gradients(), [&](std::string const& path, auto view) {
      all.push_back({path, {view.data_handle(), view.data_handle() + view.size()}});
    });
    all.push_back({"x", dx});
    all.push_back({"edges", d_edges});
    return all;
  }
  gradient_report check() {
    return gradient_check(
        point(),
        [&](variables const& at) {
          place(at);
          return value();
        },
        [&](variables const& at, variables& d) {
          place(at);
          d = gradients();
        });
  }
};

TEMPLATE_TEST_CASE("a relation-aware layer has the gradient of its value, whole and pruned", "", TRIAD_TEST_BACKENDS) {
  for (bool pruned : {false, true})
    for (double rate : {0.0, 0.3}) {
      CAPTURE(pruned, rate);
      CHECK_GRADIENT(bench<relation_layer<double>, TestType>({width, 2, 10, rate}, pruned).check());
      CHECK_GRADIENT(bench<relation_layer<double, width, 2, 10>, TestType>({width, 2, 10, rate}, pruned).check());
    }
}

TEMPLATE_TEST_CASE("a layer that updates relations has the gradient of its value, whole, pruned, and without its nodes",
                   "", TRIAD_TEST_BACKENDS) {
  for (bool pruned : {false, true})
    for (bool nodes : {false, true})
      for (double rate : {0.0, 0.3}) {
        CAPTURE(pruned, nodes, rate);
        CHECK_GRADIENT(bench<relation_update_layer<double>, TestType>({width, 2, 10, rate}, pruned, nodes).check());
        CHECK_GRADIENT(
            bench<relation_update_layer<double, width, 2, 10>, TestType>({width, 2, 10, rate}, pruned, nodes).check());
      }
}

TEMPLATE_TEST_CASE("a pruned relation-aware layer computes the rows it is asked for as the whole layer does", "",
                   TRIAD_TEST_BACKENDS) {
  bench<relation_layer<double>, TestType> whole({width, 2, 10, 0}, false), pruned({width, 2, 10, 0}, true);
  whole.run(false);
  pruned.run(false);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t f = 0; f < width; ++f) {
      auto const all = [&](index_t node) { return whole.y_nodes[static_cast<std::size_t>(node) * width + f]; };
      CHECK_THAT(pruned.y_nodes[2 * r * width + f], test::WithinAbs(all(whole.s.source[r]), 1e-13));
      CHECK_THAT(pruned.y_nodes[(2 * r + 1) * width + f], test::WithinAbs(all(whole.s.target[r]), 1e-13));
    }

  bench<relation_update_layer<double>, TestType> every({width, 2, 10, 0}, false), some({width, 2, 10, 0}, true);
  every.run(false);
  some.run(false);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t f = 0; f < width; ++f)
      CHECK_THAT(some.y_edges[r * width + f],
                 test::WithinAbs(every.y_edges[static_cast<std::size_t>(every.s.edge[r]) * width + f], 1e-13));
}

TEMPLATE_TEST_CASE("relation-aware layers of static and of dynamic shape compute the same bits", "",
                   (std::integral_constant<bool, false>), (std::integral_constant<bool, true>)) {
  auto const compare = [](auto fixed, auto free) {
    auto const a = fixed.gradients(), b = free.gradients();
    CHECK(fixed.y_nodes == free.y_nodes);
    CHECK(fixed.y_edges == free.y_edges);
    for (std::size_t t = 0; t < a.size(); ++t) {
      CHECK(a[t].path == b[t].path);
      CHECK(a[t].values == b[t].values);
    }
  };
  relation_layer_options const o{width, 2, 10, 0.3};
  if constexpr (TestType::value)
    compare(bench<relation_update_layer<double, width, 2, 10>, reference::backend>(o, true),
            bench<relation_update_layer<double>, reference::backend>(o, true));
  else
    compare(bench<relation_layer<double, width, 2, 10>, reference::backend>(o, true),
            bench<relation_layer<double>, reference::backend>(o, true));
}

TEST_CASE("a relation-aware layer lists its parameters by name") {
  auto const paths = [](auto const& layer) {
    std::vector<std::string> all;
    arena measure;
    walk(layer.plan_params(measure), [&](std::string const& path, auto) { all.push_back(path); });
    return all;
  };
  auto const given = paths(relation_layer<double>({width, 2, 10, 0})),
             updated = paths(relation_update_layer<double>({width, 2, 10, 0}));
  CHECK(given == std::vector<std::string>{"attention.query.weight", "attention.query.bias", "attention.key.weight",
                                          "attention.key.bias", "attention.value.weight", "attention.value.bias",
                                          "attention.output.weight", "attention.output.bias", "norm1.gain",
                                          "norm1.bias", "feed_forward.inner.weight", "feed_forward.inner.bias",
                                          "feed_forward.outer.weight", "feed_forward.outer.bias", "norm2.gain",
                                          "norm2.bias"});
  CHECK(updated.size() == given.size() + 16);
  for (std::string const name : {"relation_key.weight", "relation_value.bias", "left.weight", "right.bias",
                                 "edges.norm1.gain", "edges.feed_forward.inner.weight"})
    CHECK(std::find(updated.begin(), updated.end(), name) != updated.end());
}

TEST_CASE("a relation-aware layer whose width is no multiple of the heads is refused with a sentence") {
  CHECK_THROWS_WITH(relation_layer<double>({6, 4, 10, 0}), test::contains("multiple of the heads"));
}

}  // namespace
