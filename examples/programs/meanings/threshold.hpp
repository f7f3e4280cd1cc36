// Chooses the threshold: the probability from which on an edge or a label of a node is in the predicted graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <tuple>

#include "meaning.hpp"
#include "network.hpp"
#include "score.hpp"

namespace triad::programs::meanings {

/// Scores graphs with the thresholds 0.05, 0.1, ..., 0.95.  The model answers each sentence once, with the lowest
/// threshold.  The answers of the other thresholds are parts of this answer.
class threshold_choice {
 public:
  static constexpr std::size_t count = 19;
  static constexpr double lowest = 0.05;
  static constexpr double at(std::size_t k) { return static_cast<double>(k + 1) / 20; }

  /// The scores with one threshold.
  struct scores {
    long long exact = 0;
    overlap edges{}, labels{};

    /// The F1 of edges and labels together.
    double f1() const {
      auto both = edges;
      both += labels;
      return both.f1();
    }
  };

  /// Adds a row.  `found` has the edges and labels with a probability of at least `lowest`.  answer(found) must return
  /// an answer as a graph, and is_right(graph) whether the graph is an exact match.
  template <class Answer, class IsRight>
  void add(given_row const& row, found_graph const& found, Answer const& answer, IsRight const& is_right) {
    ++rows_;
    graph_tally one;
    std::size_t size = 0;
    for (std::size_t k = 0; k < count; ++k) {
      auto const part = cut(found, at(k));
      auto const kept = part.edge_probabilities.size() + part.label_probabilities.size();
      if (k == 0 || kept != size) {
        auto const graph = answer(part);
        one = {};
        one.add(row, graph, is_right(graph));
        size = kept;
      }
      all_[k].exact += one.exact;
      all_[k].edges += one.edges;
      all_[k].labels += one.labels;
    }
  }

  /// Returns the index of the threshold with the most exact matches.  Among equals, returns that with the highest F1,
  /// then the nearest to 0.5, then the lower.
  std::size_t best() const {
    constexpr int half = 9;
    static_assert(at(0) == lowest && at(half) == 0.5);
    auto const rank = [&](std::size_t k) {
      return std::tuple(all_[k].exact, all_[k].f1(), -std::abs(static_cast<int>(k) - half));
    };
    std::size_t best = 0;
    for (std::size_t k = 1; k < count; ++k)
      if (rank(k) > rank(best)) best = k;
    return best;
  }
  scores const& of(std::size_t k) const { return all_[k]; }
  double exact_match(std::size_t k) const {
    return rows_ > 0 ? static_cast<double>(all_[k].exact) / static_cast<double>(rows_) : 0;
  }

 private:
  long long rows_ = 0;
  std::array<scores, count> all_{};
};

}  // namespace triad::programs::meanings
