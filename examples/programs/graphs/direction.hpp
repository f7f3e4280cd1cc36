// Finds questions whose direction is against the edges of their graph, and makes a note about them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "graph.hpp"

namespace triad::programs::graphs {

/// Returns the number of edges of the shortest path from `ends.from` to `ends.to`; -1 if there is none.
inline int path_length(labelled_graph const& g, node_pair const& ends) {
  std::vector<int> away(static_cast<std::size_t>(g.nodes), -1);
  std::vector<int> reached{ends.from};
  away[static_cast<std::size_t>(ends.from)] = 0;
  for (std::size_t k = 0; k < reached.size(); ++k)
    for (auto const& e : g.edges) {
      int& there = away[static_cast<std::size_t>(e.to)];
      if (e.from != reached[k] || there >= 0) continue;
      there = away[static_cast<std::size_t>(e.from)] + 1;
      reached.push_back(e.to);
    }
  return away[static_cast<std::size_t>(ends.to)];
}

/// Returns true if a path leads from the second node of the question to the first, and none from the first to the
/// second.
inline bool is_against_edges(labelled_graph const& g) {
  return path_length(g, g.query) < 0 && path_length(g, {g.query.to, g.query.from}) >= 0;
}

/// Counts all questions of one call of `predict`, and the questions against the edges.  A model answers a question
/// against the edges too, often with the answer to the reverse question.
class direction_of_questions {
 public:
  /// place() returns where the question is in the input, as a text.  It is called only for the first question against
  /// the edges.
  template <class Place>
  void add(labelled_graph const& g, Place const& place) {
    ++all_;
    if (!is_against_edges(g)) return;
    if (++against_ == 1) first_ = place();
  }

  /// Returns a note for the user.  It is empty if no question is against the edges.  A checkpoint does not store the
  /// directions of its training questions, so the note does not say which directions they had.
  [[nodiscard]] std::string note() const {
    if (against_ == 0) return {};
    return fmt::format(
        "{} of {} questions ask{} against the edges (first: {}): a path leads from the second node of the "
        "question to the first, and none back; the answer may be that of the reverse question, unless the model was "
        "trained on such questions",
        against_, all_, against_ == 1 ? "s" : "", first_);
  }

 private:
  long all_ = 0, against_ = 0;
  std::string first_;
};

}  // namespace triad::programs::graphs
