// Tests the table of attention weights, which owns its memory, and refused requests.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/attention_table.hpp"

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"

namespace train_attention_table_tests {

using namespace triad;
using test::contains;

TEMPLATE_TEST_CASE("weights of an edge are those of the model's own function, and each head's sum to one", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType, double> r;
  for (auto const& g : r.data) test::add_small_graph(r.loader, g);  // graph 4 has three nodes
  auto const in = r.loader.upload().first;
  auto const table = r.learner.attention(in, {.layer = 1, .graph = 4, .edge = {0, 2}});
  REQUIRE((table.heads() == 2 && table.terms() == 3));

  r.learner.infer(in);
  std::vector<double> numbers(2 * 3);
  arena none;
  r.learner.model().attention_weights(r.ex, r.learner.inspection_call(none), r.learner.parameters().values(), in,
                                      r.learner.saved(in.graphs.dims), 1, 4, 0, 2,
                                      make_matrix(numbers.data(), 2, 3, 3));
  for (index_t h = 0; h < 2; ++h) {
    double sum = 0;
    for (index_t l = 0; l < 3; ++l) {
      CHECK(table(h, l) == numbers[static_cast<std::size_t>(3 * h + l)]);
      CHECK(table.view()(h, l) == table(h, l));
      sum += table(h, l);
    }
    CHECK_THAT(sum, test::WithinRel(1.0, 1e-12));
  }
  CHECK_THAT(table.mean(1), test::WithinRel((table(0, 1) + table(1, 1)) / 2, 1e-12));
}

TEST_CASE("the flat form attends over edges that begin and edges that end") {
  cpu::backend ex(1);
  edge_transformer<float> const model(
      {.labels = 4, .targets = 3, .layer = {.width = 8, .heads = 2, .hidden = 8, .variant = triangle_form::flat}});
  trainer learner(ex, model, {.memory = keep::nothing, .capacity = dims_of(3)});
  initialize(learner.parameters(), 2);
  graph_loader<cpu::backend> loader(dims_of(3));
  test::add_small_graph(loader, {3, 2});
  auto const table = learner.attention(loader.upload().first, {.edge = {0, 2}});
  REQUIRE((table.heads() == 2 && table.terms() == 6));
  float sum = 0;
  for (index_t l = 0; l < 6; ++l) sum += table(1, l);
  CHECK_THAT(static_cast<double>(sum), test::WithinRel(1.0, 1e-5));
}

TEST_CASE("a layer, a graph or an edge that is not there is refused, and a layer that was not kept") {
  for (auto const kept : {keep::everything, keep::inputs, keep::nothing}) {
    test::small_run<cpu::backend> r(kept, 0, 3);
    for (auto const& g : r.data) test::add_small_graph(r.loader, g);
    auto const in = r.loader.upload().first;
    auto const ask = [&](attention_place const& at) { return r.learner.attention(in, at); };
    CHECK_NOTHROW(ask({.layer = 2, .graph = 8, .edge = {3, 3}}));  // the last layer has its own memory
    CHECK_THROWS_WITH(ask({.layer = 3}), contains("layer 3, expected 0 to 2"));
    CHECK_THROWS_WITH(ask({.layer = -1}), contains("layer -1"));
    CHECK_THROWS_WITH(ask({.layer = 2, .graph = 9}), contains("graph 9, expected 0 to 8"));
    CHECK_THROWS_WITH(ask({.layer = 2, .graph = 0, .edge = {0, 2}}),
                      contains("edge (0, 2) of graph 0, expected nodes 0 to 1"));
    CHECK_THROWS_WITH(ask({.layer = 2, .graph = 0, .edge = {-1, 0}}), contains("edge (-1, 0)"));
    if (kept == keep::everything)
      CHECK_NOTHROW(ask({.layer = 0, .graph = 0, .edge = {0, 1}}));
    else
      CHECK_THROWS_WITH(ask({.layer = 0}), contains("layer 0 of 3 has no memory of its own"));
  }
}

TEST_CASE("what lies outside of the table is refused") {
  attention_table<float> const table(2, 3);
  CHECK_NOTHROW(table(1, 2));
  CHECK_THROWS_WITH(table(2, 0), contains("head 2 and term 0, expected 0 to 1 and 0 to 2"));
  CHECK_THROWS_WITH(table(0, 3), contains("expected 0 to 1 and 0 to 2"));
}

}  // namespace train_attention_table_tests
