// Three sentences with graphs, for tests of the heads that label graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "tests/ragged.hpp"
#include "triad/batches/sentence_graph_loader.hpp"
#include "triad/reference/reference.hpp"

namespace triad::test {

/// Sentences of 4, 1 and 2 tokens with one slot or more.  Tokens 0, 1 and 3 of the first sentence are queried, token 0
/// of the second, and none of the third.
struct graph_sentences {
  using loader_type = sentence_graph_loader<reference::backend, double>;

  sentence_graph_tables tables;
  std::vector<index_t> first{2, 0, 4, 2}, second{1}, third{3, 0}, queried{0, 1, 3}, one{0};
  std::vector<sentence_edge> edges{{0, 1, 2}, {0, 0, 2}, {1, 1, 3}, {3, 1, 0}}, loop{{0, 0, 0}};
  std::vector<labelled_node> labels{{0, 0}, {0, 1}, {3, 1}};
  loader_type loader;

  explicit graph_sentences(graph_label_counts const& counts = {2, 2, 3}, index_t slots = 1)
      : tables{.tokens = 5, .slots = slots, .reach = 1, .labels = counts},
        loader(sentence_graph_of(4, slots, 3 + slots) + sentence_graph_of(1, slots, 1 + slots) +
                   sentence_graph_of(2, slots, slots),
               tables) {
    if (counts.node == 0) labels.clear();
    loader.weigh({.bag = 0.5, .pointers = 0.7});
    loader.add(
        {.tokens = first, .queried = queried, .edges = edges, .labels = labels, .label = counts.graph > 0 ? 2 : -1});
    loader.add({.tokens = second, .queried = one, .edges = loop, .label = counts.graph > 0 ? 0 : -1});
    loader.add({.tokens = third, .queried = {}});
  }
};

}  // namespace triad::test
