// Tests whether a question goes along the edges of its graph.
// SPDX-License-Identifier: Apache-2.0
#include "graphs/direction.hpp"

#include <string>

#include "tests/catch.hpp"

namespace programs_direction_tests {

namespace graphs = triad::programs::graphs;

using graphs::is_against_edges, graphs::labelled_graph, graphs::path_length;
using triad::test::contains;

labelled_graph graph(std::vector<graphs::edge> edges, graphs::node_pair query) {
  return {.nodes = 5, .edges = std::move(edges), .query = query};
}

TEST_CASE("a path goes along the edges, is the shortest, and may be missing") {
  auto const g = graph({{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {0, 2, 1}}, {0, 3});
  CHECK(path_length(g, {0, 3}) == 2);
  CHECK(path_length(g, {1, 1}) == 0);
  CHECK(path_length(g, {3, 0}) == -1);
  CHECK(path_length(g, {0, 4}) == -1);
}

TEST_CASE("a question is against the edges if only a path back joins its nodes") {
  std::vector<graphs::edge> const chain{{0, 1, 1}, {1, 2, 1}};
  CHECK_FALSE(is_against_edges(graph(chain, {0, 2})));
  CHECK(is_against_edges(graph(chain, {2, 0})));
  CHECK_FALSE(is_against_edges(graph(chain, {1, 1})));
  CHECK_FALSE(is_against_edges(graph(chain, {0, 4})));  // no path at all
  CHECK_FALSE(is_against_edges(graph({{0, 1, 1}, {1, 0, 2}}, {1, 0})));
}

TEST_CASE("the note counts the questions against the edges and names the first; without one there is none") {
  graphs::direction_of_questions all;
  CHECK(all.note().empty());
  auto const forward = graph({{0, 1, 1}}, {0, 1}), back = graph({{0, 1, 1}}, {1, 0});
  int named = 0;
  auto const at = [&](char const* place) {
    return [&named, place] {
      ++named;
      return std::string(place);
    };
  };
  all.add(forward, at("a:1"));
  CHECK(all.note().empty());
  all.add(back, at("a:2"));
  CHECK_THAT(all.note(), contains("1 of 2 questions asks against the edges (first: a:2): "));
  all.add(back, at("a:3"));
  CHECK_THAT(all.note(), contains("2 of 3 questions ask against the edges (first: a:2): "));
  CHECK(named == 1);
}

}  // namespace programs_direction_tests
