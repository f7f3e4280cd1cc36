// Tests the head that labels graphs straight from states of edges: which state each score reads, and the gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/graph_head.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/graph_sentences.hpp"
#include "tests/layers/heads/scores_of_graphs.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_graph_head_tests {

using namespace triad;
using read = tensor<double const, dyn, dyn>;
using states = tensor<double, dyn, dyn>;

constexpr index_t d = 3;

TEST_CASE("each score of a graph is a map of the state of its pair, its node or its graph") {
  reference::backend ex;
  test::graph_sentences s;
  auto const in = s.loader.upload().first;
  graph_head<double> const head{extents<dyn>(1), {1, 1, 1}};
  index_t const rows = head.count(in.dims());
  std::vector<double> y(static_cast<std::size_t>(rows));
  for (std::size_t r = 0; r < y.size(); ++r) y[r] = static_cast<double>(in.pair_edges(static_cast<index_t>(r)));
  double const weight[3] = {1, 10, 100}, bias[3] = {0.25, 0.5, 0.75};
  auto const map = [&](int k) {
    return graph_head<double>::map::fields<double const>{read(weight + k, 1, 1), make_vec(bias + k, 1)};
  };
  test::scores_of_graphs<graph_head<double>> found(head, in.dims());
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    head.forward(backend, c, {map(0), map(1), map(2)}, in, read(y.data(), rows, 1), {}, found.scores);
  });
  auto const& z = in.grid.dims;
  for (index_t p = 0; p < z.pairs; ++p) CHECK(found.scores.edge(p, 0) == 0.25 + static_cast<double>(in.pair_edges(p)));
  for (index_t a = 0; a < z.columns; ++a)
    CHECK(found.scores.node(a, 0) == 0.5 + 10 * static_cast<double>(in.pair_edges(z.pairs + a)));
  for (index_t g = 0; g < z.graphs; ++g)  // the edge of the slot to itself
    CHECK(found.scores.graph(g, 0) ==
          0.75 + 100 * static_cast<double>(in.self(in.graphs.node_begin(g) + in.grid.rows(g))));
  CHECK((found.scores.bag.size() == 0 && found.scores.pointers.size() == 0));
}

TEST_CASE("a head of graphs has the gradient of its scores, with and without labels of nodes and graphs") {
  for (auto const& counts : {graph_label_counts{2, 2, 3}, graph_label_counts{2, 0, 0}}) {
    CAPTURE(counts.node);
    test::graph_sentences s(counts);
    auto const in = s.loader.upload().first;
    graph_head<double> const head{extents<dyn>(d), counts};
    index_t const rows = head.count(in.dims());
    test::scores_of_graphs<graph_head<double>> const dscores(head, in.dims(), 5);
    CHECK_GRADIENT(test::check_use(head, {{"y", test::random_values(rows * d, 1)}},
                                   [&](auto& parameters, variables const& at, variables* g) {
                                     reference::backend ex;
                                     read const y(at[1].values.data(), rows, d);
                                     test::scores_of_graphs<graph_head<double>> found(head, in.dims());
                                     test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
                                       head.forward(backend, c, parameters.values(), in, y, {}, found.scores);
                                       if (g != nullptr)
                                         head.backward(backend, c, parameters.values(), in, y, {}, dscores.scores,
                                                       states((*g)[1].values.data(), rows, d), parameters.gradients());
                                     });
                                     return found.along(dscores);
                                   }));
  }
  CHECK(test::paths_of(graph_head<double>{extents<dyn>(d), {2, 2, 3}}) ==
        std::vector<std::string>{"edge.weight", "edge.bias", "node.weight", "node.bias", "graph.weight", "graph.bias"});
}

}  // namespace layers_graph_head_tests
