// Tests relation-aware attention: its properties and its gradient. Compares the cpu backend with the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/relation_attention.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/attention_of_nodes.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/relation_attention.hpp"

namespace ops_relation_attention_tests {

using namespace triad;
using namespace test::attention_of_nodes;

// One problem in memory. q, k and v are side by side in one row, as one matrix product writes them. gk and gv are side
// by side, too. Each row ends with a column that must not be written.
template <class T>
struct problem {
  static constexpr T gap = T(12345);
  test::ragged graphs;
  index_t d, nodes, rows, node_stride, edge_stride;
  relation_attention_options options;
  std::vector<std::uint8_t> masked;
  std::vector<T> of_nodes, of_edges, dc, d_nodes, d_edges, c, weights;
  std::uint64_t step = 4;

  explicit problem(shape const& s)
      : graphs(s.sizes),
        d(s.width * s.heads),
        nodes(graphs.dims.nodes),
        rows(graphs.dims.rows),
        node_stride(3 * d + 1),
        edge_stride(2 * d + 1),
        of_nodes(test::random_values<T>(nodes * node_stride, 1, 1.5)),
        of_edges(test::random_values<T>(rows * edge_stride, 2, 1.5)),
        dc(test::random_values<T>(nodes * d, 3)),
        d_nodes(of_nodes.size(), gap),
        d_edges(of_edges.size(), gap),
        c(static_cast<std::size_t>(nodes * d), std::numeric_limits<T>::quiet_NaN()),
        weights(static_cast<std::size_t>(rows * s.heads)) {
    options.heads = s.heads;
    options.dropout = {s.rate, 99, 3, &step};
    if (!s.padded) return;
    for (auto n : s.sizes)
      for (index_t e = 0; e < n * n; ++e) masked.push_back(n >= 3 && (e / n == n - 1 || e % n == n - 1));
    options.mask.masked = make_vec<std::uint8_t const>(masked.data(), rows);
  }
  problem(problem const&) = delete;

  template <class S>
  relation_operands<S> split(S* node_data, S* edge_data) const {
    auto const of_node = [&](index_t k) { return make_matrix(node_data + k * d, nodes, d, node_stride); };
    auto const of_edge = [&](index_t k) { return make_matrix(edge_data + k * d, rows, d, edge_stride); };
    return {of_node(0), of_node(1), of_node(2), of_edge(0), of_edge(1)};
  }
  relation_operands<T const> operands() const { return split<T const>(of_nodes.data(), of_edges.data()); }

  template <class Ex>
  void forward(Ex& ex) {
    relation_attention(ex, options, operands(), graphs.batch(), make_vec(weights.data(), rows * options.heads),
                       make_matrix(c.data(), nodes, d, d));
  }
  template <class Ex>
  void backward(Ex& ex, edge_gradients how = edge_gradients::overwritten) {
    relation_attention_grad(ex, options, operands(), graphs.batch(),
                            make_vec<T const>(weights.data(), rows * options.heads),
                            make_matrix<T const>(c.data(), nodes, d, d), make_matrix<T const>(dc.data(), nodes, d, d),
                            split(d_nodes.data(), d_edges.data()), how);
  }
  template <class Ex>
  void run(Ex&& ex) {
    forward(ex);
    backward(ex);
  }
  bool gaps_untouched() const {
    for (index_t r = 0; r < nodes; ++r)
      if (d_nodes[static_cast<std::size_t>((r + 1) * node_stride - 1)] != gap) return false;
    for (index_t r = 0; r < rows; ++r)
      if (d_edges[static_cast<std::size_t>((r + 1) * edge_stride - 1)] != gap) return false;
    return true;
  }
};

TEMPLATE_TEST_CASE("relation-aware attention on the cpu equals the reference, whatever the threads", "", float,
                   double) {
  for (double rate : {0.0, 0.3, 1.0})
    for (bool padded : {false, true}) {
      expect_reference<problem, TestType>({{1, 2, 3, 4, 5, 6}, 16, 4, rate, padded});
      expect_reference<problem, TestType>({{11, 7, 8}, 40, 2, rate, padded});
      expect_reference<problem, TestType>({{3, 20}, 5, 3, rate, padded});
    }
  for (index_t k : {1, 3, 8, 15, 17, 33}) expect_reference<problem, TestType>({{4, 1, 9}, k, 2});
}

TEMPLATE_TEST_CASE("the weights of a node sum to one, and dropout shows in their sign alone", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> whole({{5, 1, 3}, 4, 2, 0, true}), dropped({{5, 1, 3}, 4, 2, 0.4, true});
  whole.forward(ex);
  dropped.forward(ex);
  index_t negative = 0;
  for (index_t g = 0; g < 3; ++g) {
    index_t const n = whole.graphs.size[static_cast<std::size_t>(g)],
                  edge = whole.graphs.edge_begin[static_cast<std::size_t>(g)];
    for (index_t c = 0; c < 2; ++c)
      for (index_t x = 0; x < n; ++x) {
        double sum = 0;
        for (index_t y = 0; y < n; ++y) {
          auto const at = static_cast<std::size_t>(relation_weight(2, edge, n, c, x, y));
          sum += whole.weights[at];
          CHECK(std::abs(dropped.weights[at]) == whole.weights[at]);
          CHECK(std::signbit(dropped.weights[at]) != dropped.options.dropout.keeps(at));
          negative += std::signbit(dropped.weights[at]);
        }
        CHECK_THAT(sum, test::WithinAbs(1, 1e-14));
      }
  }
  CHECK(negative > 0);
}

TEMPLATE_TEST_CASE("a padded node attends to all nodes alike, and a real one to no padding", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p({{4}, 3, 1, 0, true});
  p.forward(ex);
  for (index_t y = 0; y < 4; ++y) CHECK(p.weights[static_cast<std::size_t>(3 * 4 + y)] == 0.25);
  for (index_t x = 0; x < 3; ++x) CHECK(p.weights[static_cast<std::size_t>(x * 4 + 3)] == 0);
}

TEMPLATE_TEST_CASE("what is no number in a query is none in its context", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (double const rate : {0.0, 0.3}) {
    problem<double> p({{4}, 3, 1, rate});
    p.of_nodes[0] = std::numeric_limits<double>::quiet_NaN();
    p.forward(ex);
    for (index_t f = 0; f < 3; ++f) CHECK(std::isnan(p.c[static_cast<std::size_t>(f)]));
    CHECK_FALSE(std::isnan(p.c[3]));
  }
}

TEMPLATE_TEST_CASE("relation-aware attention has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (double rate : {0.0, 0.3})
    for (bool padded : {false, true}) expect_gradient<problem>(ex, {{3, 1, 5}, 3, 2, rate, padded});
}

TEMPLATE_TEST_CASE("layers that share relations add to their gradient", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> once({{3, 4}, 3, 2, 0.3, true}), added({{3, 4}, 3, 2, 0.3, true});
  once.run(ex);
  added.run(ex);
  added.backward(ex, edge_gradients::added);
  for (index_t r = 0; r < once.rows; ++r)
    for (index_t f = 0; f < 2 * once.d; ++f) {
      auto const at = static_cast<std::size_t>(r * once.edge_stride + f);
      CHECK_THAT(added.d_edges[at],
                 test::WithinAbs(2 * once.d_edges[at],
                                 test::is_device<TestType> ? 1e-14 : 0));  // a device may fuse a product and a sum
    }
  // Different instances of the kernel may fuse products and sums differently.
  for (std::size_t i = 0; i < once.d_nodes.size(); ++i)
    CHECK_THAT(added.d_nodes[i], test::WithinAbs(once.d_nodes[i], 1e-13));
}

TEMPLATE_TEST_CASE("relabelling nodes commutes with relation-aware attention", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  std::vector<index_t> const to{2, 0, 3, 1};
  problem<double> p({{4}, 3, 2}), q({{4}, 3, 2});
  auto const copy = [](std::vector<double> const& from, index_t row, std::vector<double>& into, index_t at,
                       index_t stride) {
    std::copy_n(from.begin() + row * stride, stride, into.begin() + at * stride);
  };
  for (index_t x = 0; x < 4; ++x) {
    copy(p.of_nodes, x, q.of_nodes, to[static_cast<std::size_t>(x)], p.node_stride);
    for (index_t y = 0; y < 4; ++y)
      copy(p.of_edges, x * 4 + y, q.of_edges, to[static_cast<std::size_t>(x)] * 4 + to[static_cast<std::size_t>(y)],
           p.edge_stride);
  }
  p.forward(ex);
  q.forward(ex);
  for (index_t x = 0; x < 4; ++x)
    for (index_t f = 0; f < p.d; ++f)
      CHECK_THAT(q.c[static_cast<std::size_t>(to[static_cast<std::size_t>(x)] * p.d + f)],
                 test::WithinAbs(p.c[static_cast<std::size_t>(x * p.d + f)], 1e-14));
}

TEST_CASE("relation-aware attention refuses shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p({{3}, 3, 2});
  p.options.heads = 4;
  CHECK_THROWS_WITH(p.forward(ex), test::contains("expected 1 or more heads that divide the width"));
  p.options.heads = 3;
  CHECK_NOTHROW([&] {
    p.weights.resize(static_cast<std::size_t>(p.rows * 3));
    p.forward(ex);
  }());
  auto const half = [](matrix<double> v) { return column_block(v, 0, 3); };
  auto const dx = p.split(p.d_nodes.data(), p.d_edges.data());
  CHECK_THROWS_WITH((relation_attention_grad<reference::backend, double>(
                        ex, p.options, p.operands(), p.graphs.batch(), make_vec<double const>(p.weights.data(), 27),
                        make_matrix<double const>(p.c.data(), 3, 6, 6), make_matrix<double const>(p.dc.data(), 3, 6, 6),
                        {half(dx.query), half(dx.key), half(dx.value), half(dx.edge_key), half(dx.edge_value)})),
                    test::contains("dx.query is (3, 3), expected (3, 6)"));
  std::uint8_t const byte = 0;
  p.options.mask.masked = make_vec(&byte, 1);
  CHECK_THROWS_WITH(p.forward(ex), test::contains("mask is (1), expected (9)"));
}

}  // namespace ops_relation_attention_tests
