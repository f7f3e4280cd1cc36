// A relation-aware layer together with the memory for one call, for tests. The value and all gradients are functions of
// all arguments.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tests/backends.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/layers/relation_update_layer.hpp"
#include "triad/train/gradient_check.hpp"

namespace triad::test::relations {

inline constexpr index_t width = 6;

// Graphs of 3, 1 and 4 nodes. The last node of the last graph is padding.
struct setting {
  ragged graphs{{3, 1, 4}};
  index_t nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  std::vector<std::uint8_t> masked;
  std::vector<index_t> source{0, 3, 5}, target{2, 3, 4}, edge{2, 9, 14};  // the edges (0, 2), (0, 0), (1, 0)

  setting() : masked(static_cast<std::size_t>(rows)) {
    for (index_t x = 0; x < 4; ++x)
      for (index_t y = 0; y < 4; ++y) masked[static_cast<std::size_t>(10 + 4 * x + y)] = x == 3 || y == 3;
  }
  /// Makes a few small graphs, with or without a mask, and chooses some edges to be read.
  explicit setting(random_stream& random) : graphs(sizes(random)), source(), target(), edge() {
    auto const sometimes = random.below(3);  // about `sometimes` quarters of the elements are masked
    if (sometimes > 0)
      for (index_t r = 0; r < rows; ++r) masked.push_back(random.below(4) < sometimes);
    for (index_t g = 0, r = 0; g < graphs.dims.graphs; ++g) {
      auto const at = static_cast<std::size_t>(g);
      for (index_t x = 0; x < graphs.size[at]; ++x)
        for (index_t y = 0; y < graphs.size[at]; ++y, ++r) {
          if (random.below(3) > 0 && r > 0) continue;
          source.push_back(graphs.node_begin[at] + x), target.push_back(graphs.node_begin[at] + y), edge.push_back(r);
        }
    }
  }
  static std::vector<index_t> sizes(random_stream& random) {
    std::vector<index_t> all(1 + random.below(3));
    for (auto& n : all) n = 1 + static_cast<index_t>(random.below(4));
    return all;
  }

  edge_mask mask() const { return {make_vec<std::uint8_t const>(masked.data(), static_cast<index_t>(masked.size()))}; }
  /// The number of edges that are read.
  index_t wanted() const { return static_cast<index_t>(edge.size()); }
  node_pairs ends() const {
    return {make_vec<index_t const>(source.data(), wanted()), make_vec<index_t const>(target.data(), wanted())};
  }
  wanted_edges read() const { return {make_vec<index_t const>(edge.data(), wanted()), ends()}; }
};

template <class View, class Values>
View view_of(Values& values, index_t columns) {
  return View(values.data(), static_cast<index_t>(values.size()) / columns, columns);
}

template <class Layer, class Ex>
struct bench {
  using T = double;
  using given = decltype(Layer::input::x);
  using state = tensor<T, dyn, static_cast<index_t>(given::static_extent(1))>;
  static constexpr bool updates = requires(typename Layer::input in) { in.g; };

  index_t d;  // width
  setting s;
  Layer layer;
  Ex ex;
  bool pruned, nodes_wanted;  // nodes_wanted: for a layer that updates edges
  parameter_set<Layer, Ex> params;
  std::vector<double> x, edges, y_nodes, y_edges, dx, d_edges;
  std::uint64_t step = 6;

  bench(relation_layer_options const& o, bool prune, bool want_nodes = true, setting const& of = {})
      : d(o.width),
        s(of),
        layer(o),
        pruned(prune),
        nodes_wanted(want_nodes),
        params(layer, holding::gradients),
        x(random_values(s.nodes * d, 1)),
        edges(random_values(s.rows * d * (updates ? 1 : 2), 2)),
        dx(x.size()),
        d_edges(edges.size()) {
    index_t const node_rows = updates  ? (nodes_wanted ? s.nodes : 0)
                              : pruned ? 2 * s.wanted()
                                       : s.nodes,
                  edge_rows = updates ? (pruned ? s.wanted() : s.rows) : 0;
    y_nodes.resize(static_cast<std::size_t>(node_rows * d));
    y_edges.resize(static_cast<std::size_t>(edge_rows * d));
    random_stream random(4, 5);
    walk(params.mutable_values(), [&](std::string const&, auto view) {
      for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = random.uniform(-0.7, 0.7);
    });
  }

  typename Layer::input input() {
    auto const nodes = view_of<const_view<state>>(x, d);
    if constexpr (updates)
      return {nodes, view_of<const_view<state>>(edges, d), s.graphs.batch(), s.mask(),
              pruned ? s.read() : wanted_edges{}};
    else
      return {nodes, view_of<tensor<T const, dyn, dyn>>(edges, 2 * d), s.graphs.batch(), s.mask(),
              pruned ? s.ends() : node_pairs{}};
  }
  auto plan(arena& place) const {
    return layer.plan_saved(place, s.graphs.dims, keep::everything, pruned ? (updates ? 1 : 2) * s.wanted() : 0);
  }

  // Computes y. If `back`, also computes every gradient from the gradient dy of y.
  void run(bool back) {
    spoiled_memory const memory([&](arena& a) { return plan(a); });
    auto place = memory.place();
    auto const saved = plan(place);
    auto const dy_nodes = random_values(static_cast<index_t>(y_nodes.size()), 7),
               dy_edges = random_values(static_cast<index_t>(y_edges.size()), 8);
    if (back) params.zero_gradients(ex);
    call c;
    c.train = true;
    c.step = &step;
    with_scratch(ex, c, [&](auto& backend, call const& use) {
      auto const in = input();
      auto const nodes = view_of<state>(y_nodes, d), d_nodes = view_of<state>(dx, d);
      if constexpr (updates) {
        layer.forward(backend, use, params.values(), in, saved, {nodes, view_of<state>(y_edges, d)});
        if (back)
          layer.backward(backend, use, params.values(), in, saved,
                         {view_of<const_view<state>>(dy_nodes, d), view_of<const_view<state>>(dy_edges, d)},
                         {d_nodes, view_of<state>(d_edges, d)}, params.gradients());
      } else {
        layer.forward(backend, use, params.values(), in, saved, nodes);
        if (back)
          layer.backward(backend, use, params.values(), in, saved, view_of<const_view<state>>(dy_nodes, d), d_nodes,
                         params.gradients(),
                         {view_of<tensor<T, dyn, dyn>>(d_edges, 2 * d), edge_gradients::overwritten});
      }
    });
  }

  double value() {
    run(false);
    double sum = 0;
    for (auto const& [y, stream] : {std::pair(&y_nodes, 7), std::pair(&y_edges, 8)}) {
      auto const dy = random_values(static_cast<index_t>(y->size()), static_cast<std::uint64_t>(stream));
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
        [&](variables const& at, variables& slopes) {
          place(at);
          slopes = gradients();
        });
  }
};

/// Checks the gradients of layers of many sizes on many graphs by finite differences.
template <class Layer, class Ex>
void check_gradients_of_many_shapes() {
  random_stream random(19, 44);
  for (int drawn = 0; drawn < (is_device<Ex> ? 2 : 30); ++drawn) {
    auto const any = [&](std::uint32_t least, std::uint32_t most) {
      return static_cast<index_t>(least + random.below(most - least + 1));
    };
    index_t const heads = any(1, 3), d = heads * any(heads == 1 ? 4 : 2, 5), hidden = any(1, 9);
    double const rate = random.below(3) == 0 ? 0.3 : 0.0;
    bool const pruned = random.below(2) == 0, nodes = random.below(4) > 0;
    setting const of(random);
    CAPTURE(drawn, heads, d, hidden, rate, pruned, nodes, of.graphs.size, of.masked, of.edge);
    CHECK_GRADIENT(bench<Layer, Ex>({d, heads, hidden, rate}, pruned, nodes, of).check());
  }
}

}  // namespace triad::test::relations
