// Tests graph attention: its equations, its properties and its gradient. Compares the cpu backend with the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/graph_attention.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/attention_of_nodes.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/graph_attention.hpp"

namespace ops_graph_attention_tests {

using namespace triad;
using namespace test::attention_of_nodes;

// One problem in memory. A row has qs, ks and v of a node, or es and ev of an edge. The last column of a row must not
// be written.
template <class T>
struct problem {
  static constexpr T gap = T(12345);
  test::ragged graphs;
  index_t heads, d, nodes, rows, node_stride, edge_stride;
  graph_attention_options options;
  std::vector<index_t> label;
  std::vector<T> of_nodes, of_edges, dc, d_nodes, d_edges, c, weights;
  std::uint64_t step = 4;

  explicit problem(shape const& s)
      : graphs(s.sizes),
        heads(s.heads),
        d(s.width * s.heads),
        nodes(graphs.dims.nodes),
        rows(graphs.dims.rows),
        node_stride(2 * heads + d + 1),
        edge_stride(heads + d + 1),
        of_nodes(test::random_values<T>(nodes * node_stride, 1, 1.5)),
        of_edges(test::random_values<T>(rows * edge_stride, 2, 1.5)),
        dc(test::random_values<T>(nodes * d, 3)),
        d_nodes(of_nodes.size(), gap),
        d_edges(of_edges.size(), gap),
        c(static_cast<std::size_t>(nodes * d), std::numeric_limits<T>::quiet_NaN()),
        weights(static_cast<std::size_t>(rows * heads), std::numeric_limits<T>::quiet_NaN()) {
    options.heads = s.heads;
    options.dropout = {s.rate, 99, 3, &step};
    random_stream random(7, 1);
    for (index_t r = 0; r < rows; ++r) label.push_back(random.below(4) == 0 ? 1 + random.below(3) : 0);
  }
  problem(problem const&) = delete;

  template <class S>
  graph_attention_operands<S> split(S* node, S* edge) const {
    auto const part = [](S* data, index_t count, index_t columns, index_t stride) {
      return make_matrix(data, count, columns, stride);
    };
    return {part(node, nodes, heads, node_stride), part(node + heads, nodes, heads, node_stride),
            part(edge, rows, heads, edge_stride), part(node + 2 * heads, nodes, d, node_stride),
            part(edge + heads, rows, d, edge_stride)};
  }
  graph_attention_operands<T const> operands() const { return split<T const>(of_nodes.data(), of_edges.data()); }
  vec<index_t const> labels() const { return make_vec(label.data(), static_cast<index_t>(label.size())); }

  template <class Ex>
  void forward(Ex& ex) {
    graph_attention(ex, options, operands(), graphs.batch(), labels(),
                    make_vec(weights.data(), static_cast<index_t>(weights.size())), make_matrix(c.data(), nodes, d, d));
  }
  template <class Ex>
  void backward(Ex& ex, edge_gradients how = edge_gradients::overwritten) {
    graph_attention_grad(ex, options, operands(), graphs.batch(), labels(),
                         make_vec<T const>(weights.data(), rows * heads), make_matrix<T const>(c.data(), nodes, d, d),
                         make_matrix<T const>(dc.data(), nodes, d, d), split(d_nodes.data(), d_edges.data()), how);
  }
  template <class Ex>
  void run(Ex&& ex) {
    forward(ex);
    backward(ex);
  }
  bool gaps_untouched() const {
    for (index_t r = 1; r <= nodes; ++r)
      if (d_nodes[static_cast<std::size_t>(r * node_stride - 1)] != gap) return false;
    for (index_t r = 1; r <= rows; ++r)
      if (d_edges[static_cast<std::size_t>(r * edge_stride - 1)] != gap) return false;
    return true;
  }
};

TEMPLATE_TEST_CASE("graph attention on the cpu equals the reference, whatever the threads", "", float, double) {
  for (double rate : {0.0, 0.3, 1.0}) {
    expect_reference<problem, TestType>({{1, 2, 3, 4, 5, 6}, 16, 4, rate});
    expect_reference<problem, TestType>({{11, 7, 8}, 40, 2, rate});
    expect_reference<problem, TestType>({{3, 20}, 5, 3, rate});
  }
  for (index_t k : {1, 3, 8, 15, 17, 33}) expect_reference<problem, TestType>({{4, 1, 9}, k, 2});
}

// Computes the equations for one graph without the library: lists the neighbours of each node, and computes each weight
// of a softmax separately.
TEMPLATE_TEST_CASE("graph attention is the softmax of leaky scores over a node's neighbours", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  std::size_t constexpr n = 6, h = 2, k = 3, d = h * k;
  problem<double> p({{n}, k, h});
  p.forward(ex);
  auto const in = p.operands();
  auto const number = [](std::size_t i) { return static_cast<index_t>(i); };
  for (std::size_t x = 0; x < n; ++x) {
    std::vector<std::size_t> neighbours;
    for (std::size_t y = 0; y < n; ++y)
      if (x == y || p.label[x * n + y] > 0 || p.label[y * n + x] > 0) neighbours.push_back(y);
    for (std::size_t head = 0; head < h; ++head) {
      auto const share = [&](std::size_t y) {
        double const z = in.query_score(number(x), number(head)) + in.key_score(number(y), number(head)) +
                         in.edge_score(number(x * n + y), number(head));
        return std::exp(std::max(z, 0.2 * z));
      };
      double all = 0;
      for (auto y : neighbours) all += share(y);
      for (std::size_t f = head * k; f < (head + 1) * k; ++f) {
        double expected = 0;
        for (auto y : neighbours)
          expected += share(y) / all * (in.value(number(y), number(f)) + in.edge_value(number(x * n + y), number(f)));
        CHECK_THAT(p.c[x * d + f], test::WithinAbs(expected, 1e-13));
      }
    }
  }
}

TEMPLATE_TEST_CASE("the weights of a node's neighbours sum to one, others have none, and dropout shows in a sign", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> whole({{5, 1, 40}, 4, 2}), dropped({{5, 1, 40}, 4, 2, 0.4});
  whole.forward(ex);
  dropped.forward(ex);
  index_t negative = 0, none = 0;
  for (index_t g = 0; g < 3; ++g) {
    index_t const n = whole.graphs.size[static_cast<std::size_t>(g)],
                  edge = whole.graphs.edge_begin[static_cast<std::size_t>(g)];
    for (index_t c = 0; c < 2; ++c)
      for (index_t x = 0; x < n; ++x) {
        double sum = 0;
        for (index_t y = 0; y < n; ++y) {
          auto const at = static_cast<std::size_t>(relation_weight(2, edge, n, c, x, y));
          bool const neighbours = are_neighbours(whole.labels(), edge, n, x, y);
          sum += whole.weights[at];
          none += !neighbours;
          if ((whole.weights[at] > 0) != neighbours) FAIL("a weight of a non-neighbour, or none of a neighbour");
          REQUIRE(std::abs(dropped.weights[at]) == whole.weights[at]);
          if (neighbours) REQUIRE((dropped.weights[at] < 0) != dropped.options.dropout.keeps(at));
          negative += dropped.weights[at] < 0;
        }
        CHECK_THAT(sum, test::WithinAbs(1, 1e-14));
      }
  }
  CHECK(negative > 0);
  CHECK(none > 0);
}

TEMPLATE_TEST_CASE("a node without edges has its own value, and a label is an edge in both directions", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p({{3}, 2, 1});
  p.label.assign(9, 0);
  p.label[0 * 3 + 1] = 2;  // an edge from 0 to 1
  p.forward(ex);
  auto const weight = [&](std::size_t x, std::size_t y) { return p.weights[3 * x + y]; };
  CHECK(weight(2, 2) == 1);
  CHECK((weight(2, 0) == 0 && weight(2, 1) == 0 && weight(0, 2) == 0 && weight(1, 2) == 0));
  CHECK((weight(0, 1) > 0 && weight(1, 0) > 0));
  for (index_t f = 0; f < 2; ++f)
    CHECK_THAT(p.c[static_cast<std::size_t>(4 + f)],
               test::WithinAbs(p.operands().value(2, f) + p.operands().edge_value(8, f), 1e-15));
}

TEMPLATE_TEST_CASE("graph attention has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (double rate : {0.0, 0.3}) expect_gradient<problem>(ex, {{3, 1, 5}, 3, 2, rate});
}

TEMPLATE_TEST_CASE("layers that share the parts of edges add to their gradients", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> once({{3, 4}, 3, 2, 0.3}), added({{3, 4}, 3, 2, 0.3});
  once.run(ex);
  added.run(ex);
  added.backward(ex, edge_gradients::added);
  for (index_t r = 0; r < once.rows; ++r)
    for (index_t f = 0; f + 1 < once.edge_stride; ++f) {
      auto const at = static_cast<std::size_t>(r * once.edge_stride + f);
      CHECK_THAT(added.d_edges[at], test::WithinAbs(2 * once.d_edges[at], 1e-13));
    }
  for (std::size_t i = 0; i < once.d_nodes.size(); ++i)
    CHECK_THAT(added.d_nodes[i], test::WithinAbs(once.d_nodes[i], 1e-13));
}

TEMPLATE_TEST_CASE("relabelling nodes commutes with graph attention", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  std::vector<std::size_t> const to{2, 0, 3, 1};
  problem<double> p({{4}, 3, 2}), q({{4}, 3, 2});
  auto const copy = [](std::vector<double> const& from, std::size_t row, std::vector<double>& into, std::size_t at,
                       index_t stride) {
    for (std::size_t f = 0, s = static_cast<std::size_t>(stride); f < s; ++f) into[at * s + f] = from[row * s + f];
  };
  for (std::size_t x = 0; x < 4; ++x) {
    copy(p.of_nodes, x, q.of_nodes, to[x], p.node_stride);
    for (std::size_t y = 0; y < 4; ++y) {
      copy(p.of_edges, x * 4 + y, q.of_edges, to[x] * 4 + to[y], p.edge_stride);
      q.label[to[x] * 4 + to[y]] = p.label[x * 4 + y];
    }
  }
  p.forward(ex);
  q.forward(ex);
  for (std::size_t x = 0; x < 4; ++x)
    for (std::size_t f = 0; f < 6; ++f) CHECK_THAT(q.c[to[x] * 6 + f], test::WithinAbs(p.c[x * 6 + f], 1e-14));
}

TEST_CASE("graph attention refuses shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p({{3}, 3, 2});
  p.options.heads = 4;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("expected 1 or more heads that divide the width"));
  p.options.heads = 3;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("query_score is (3, 2), expected (3, 3)"));
  p.options.heads = 2;
  p.label.pop_back();
  CHECK_THROWS_WITH(p.forward(ex), test::contains("label is (8), expected (9)"));
  p.label.push_back(0);
  p.weights.pop_back();
  CHECK_THROWS_WITH(p.forward(ex), test::contains("weights is (17), expected (18)"));
}

}  // namespace ops_graph_attention_tests
