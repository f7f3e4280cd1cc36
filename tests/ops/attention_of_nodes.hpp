// Code that tests share for attention of nodes to other nodes of their graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace triad::test::attention_of_nodes {

struct shape {
  std::vector<index_t> sizes;
  index_t width, heads;
  double rate = 0;      // dropout rate
  bool padded = false;  // in graphs of three or more nodes, the last node is padding
};

inline std::ostream& operator<<(std::ostream& out, shape const& s) {
  out << "n =";
  for (auto n : s.sizes) out << ' ' << n;
  return out << ", k = " << s.width << ", h = " << s.heads << ", dropout " << s.rate << (s.padded ? ", padded" : "");
}

// The tolerance allows for rounding in sums of a few hundred products. In float, it allows for rounded operands; in
// double, only for sums in another order than in the reference.
template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-13;

// Problem<T> must be constructible from a shape. It must have the inputs of_nodes, of_edges and dc, and the results c,
// weights, d_nodes and d_edges. forward(ex) must compute the first two results, and run(ex) all results.
template <template <class> class Problem, class T>
void expect_reference(shape const& s) {
  INFO(s);
  Problem<double> exact(s);
  Problem<T> one(s), two(s);
  exact.run(reference::backend());
  one.run(cpu::backend(1));
  two.run(cpu::backend(2));
  CHECK(distance(one.c, exact.c) < tolerance<T>);
  CHECK(distance(one.weights, exact.weights) < tolerance<T>);
  CHECK(distance(one.d_nodes, exact.d_nodes) < tolerance<T>);
  CHECK(distance(one.d_edges, exact.d_edges) < tolerance<T>);
  CHECK(one.gaps_untouched());
  CHECK(exact.gaps_untouched());
  CHECK(one.c == two.c);
  CHECK(one.weights == two.weights);
  CHECK(one.d_nodes == two.d_nodes);
  CHECK(one.d_edges == two.d_edges);
}

template <template <class> class Problem, class Ex>
void expect_gradient(Ex& ex, shape const& s) {
  INFO(s);
  Problem<double> p(s);
  auto const report = triad::gradient_check(
      {{"nodes", p.of_nodes}, {"edges", p.of_edges}},
      [&](variables const& at) {
        p.of_nodes = at[0].values;
        p.of_edges = at[1].values;
        p.forward(ex);
        double sum = 0;
        for (std::size_t i = 0; i < p.c.size(); ++i) sum += p.c[i] * p.dc[i];
        return sum;
      },
      [&](variables const& at, variables& d) {
        p.of_nodes = at[0].values;
        p.of_edges = at[1].values;
        p.d_nodes.assign(p.of_nodes.size(), 0);
        p.d_edges.assign(p.of_edges.size(), 0);
        p.run(ex);
        d[0].values = p.d_nodes;
        d[1].values = p.d_edges;
      });
  CHECK_GRADIENT(report);
}

}  // namespace triad::test::attention_of_nodes
