// Tests the graph attention network: gradients, recomputation, padding, renumbered nodes, how far information travels,
// threads, and that it memorises a few examples.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/graph_attention_network.hpp"

#include <string>
#include <vector>

#include "tests/models/labelled_graphs.hpp"

namespace models_graph_attention_network_tests {

using namespace triad;
using namespace test::labelled_graphs;

using gat = graph_attention_network<double>;

graph_attention_network_options sizes(index_t layers, bool tied, double rate = 0) {
  return {labels, targets, layers, tied, {d, 2, rate}};
}

// Returns a chain of nodes, each with an edge to the next node.
drawn_graph chain(index_t n) {
  drawn_graph g(n, 1);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) g.label[static_cast<std::size_t>(i * n + j)] = j == i + 1 ? 1 + i % 3 : 0;
  return g;
}

TEMPLATE_TEST_CASE("a graph attention network has the gradient of its loss, tied and untied", "", gat,
                   (graph_attention_network<double, d, 2>)) {
  cpu::backend ex(1);
  for (bool tied : {false, true})
    for (index_t layers : {1, 2, 3}) {
      CAPTURE(tied, layers);
      bench<TestType> b(sizes(layers, tied, 0.2), {{3, 1}, {1, 2}, chain(5), {2, 4}});
      CHECK_GRADIENT(b.check(ex));
    }
}

TEMPLATE_TEST_CASE("a graph attention network is computed as the reference does, with dropout", "",
                   TRIAD_TEST_ONE_BACKEND) {
  bench<gat> b(sizes(3, true, 0.3), {chain(4), {3, 1}, {1, 2}, {4, 3}});
  expect_same(b.all(reference::backend()), b.all(TestType()));
}

TEMPLATE_TEST_CASE("a graph attention network that recomputes gives the same bits, and inference the same logits", "",
                   TRIAD_TEST_ONE_BACKEND) {
  TestType ex;
  for (index_t layers : {1, 2, 4}) expect_same_recomputed(bench<gat>(sizes(layers, false, 0.3)), ex);
}

TEMPLATE_TEST_CASE("a graph attention network passes over padding, which no edge leads to", "",
                   TRIAD_TEST_ONE_BACKEND) {
  TestType ex;
  bench<gat> ragged(sizes(3, true)), padded(sizes(3, true));
  padded.padded_to = 5;
  auto const a = ragged.all(ex), b = padded.all(ex);
  expect_same(a, b);
}

TEMPLATE_TEST_CASE("relabelling the nodes of a graph changes no answer of a graph attention network", "",
                   TRIAD_TEST_ONE_BACKEND) {
  TestType ex;
  std::vector<drawn_graph> const named{{3, 1}, chain(4)},
      renamed{named[0].renamed({2, 0, 1}), named[1].renamed({3, 1, 0, 2})};
  bench<gat> a(sizes(3, false), named), b(sizes(3, false), renamed);
  CHECK(largest_difference(a.all(ex).logits, b.all(ex).logits) < tolerance);
}

TEMPLATE_TEST_CASE("a graph attention network of L layers sees labels up to L edges away, and none beyond", "",
                   TRIAD_TEST_ONE_BACKEND) {
  TestType ex;
  index_t const n = 7;
  for (index_t layers : {1, 2, 3}) {
    auto far = chain(n), near = chain(n);
    near.label[static_cast<std::size_t>((layers - 1) * n + layers)] = 6;  // the L-th edge from the first node
    far.label[static_cast<std::size_t>(layers * n + layers + 1)] = 6;     // the edge after that
    bench<gat> b(sizes(layers, false), {chain(n), near, far});
    for (auto& g : b.graphs) g.target = 0;
    auto const all = b.all(ex).logits;
    auto const of = [&](std::size_t g) {
      auto const first = all.begin() + static_cast<std::ptrdiff_t>(g * targets);
      return std::vector<double>(first, first + targets);
    };
    CHECK(largest_difference(of(0), of(1)) > 1e-6);
    CHECK(largest_difference(of(0), of(2)) < tolerance);
  }
}

TEST_CASE("one seed gives one graph attention network, whatever the threads") {
  expect_same_by_threads<graph_attention_network<float>>(sizes(3, true, 0.3));
}

TEMPLATE_TEST_CASE("exactly the parameters of a graph attention network that are said to have a gradient have one", "",
                   TRIAD_TEST_ONE_BACKEND) {
  TestType ex;
  for (bool tied : {false, true})
    for (index_t layers : {1, 2}) {
      CAPTURE(tied, layers);
      expect_gradients_as_said(bench<gat>(sizes(layers, tied)), ex);
    }
}

TEST_CASE("a graph attention network learns eight graphs by heart") {
  expect_learned_by_heart<graph_attention_network<float>>(
      graph_attention_network_options{labels, targets, 3, true, {16, 2, 0.0}}, 200);
}

TEST_CASE("a label that a graph attention network does not know is reported with its edge and its graph") {
  expect_label_told<gat>(sizes(2, true));
}

TEST_CASE("a graph attention network without layers, or that is asked for what it did not keep, is refused") {
  CHECK_THROWS_WITH(gat(sizes(0, true)), test::contains("graph_attention_network: layers is 0, expected 1 to 255"));
  expect_no_backward_without_states(bench<gat>(sizes(2, true)));
}

}  // namespace models_graph_attention_network_tests
