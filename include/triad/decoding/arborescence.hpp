// Maximum spanning arborescence.  The search chooses a parent for each node, without cycles, so that the sum of the
// scores is maximal.
// SPDX-License-Identifier: Apache-2.0
//
//   maximise sum_i score(i, parent(i)),  where parent(i) = i if i is a root
//
// The algorithm of Chu and Liu 1965 and Edmonds 1967 first gives each node its best parent.  If the result has a cycle,
// the cycle is contracted to one node.  An edge into the cycle replaces an edge of the cycle, so its weight is the
// difference of the two scores.  The algorithm then solves the smaller problem.  The solution has one edge into the
// cycle.  At the node where this edge ends, it replaces the edge of the cycle.  The time is O(n^3).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/views.hpp"

namespace triad {

enum class roots { any, one };  // any: at least one root; one: exactly one root

namespace detail {

/// Searches for the arborescence whose only root is node 0.  Node 0 is an additional node: an edge from node 0 to a
/// node makes this node a root of the original problem.  No edge leads to node 0.
class arborescence_search {
 public:
  /// weight[parent][child], for n + 1 nodes.
  explicit arborescence_search(std::vector<std::vector<double>> weight) : weight_(std::move(weight)) {}

  /// Returns the parent of every node.  The parent of node 0 is 0.
  std::vector<index_t> solve() const {
    auto const n = static_cast<index_t>(weight_.size());
    std::vector<index_t> best(weight_.size(), 0);
    for (index_t v = 1; v < n; ++v)
      for (index_t u = 1; u < n; ++u)
        if (u != v && weight(u, v) > weight(best[at(v)], v)) best[at(v)] = u;
    auto const cycle = cycle_of(best);
    if (cycle.empty()) return best;
    return open(cycle, best);
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
  double weight(index_t from, index_t to) const { return weight_[at(from)][at(to)]; }

  static std::vector<index_t> cycle_of(std::vector<index_t> const& parent) {
    std::vector<index_t> seen_from(parent.size(), -1);
    for (index_t start = 1; start < static_cast<index_t>(parent.size()); ++start) {
      index_t v = start;
      while (v != 0 && seen_from[at(v)] < 0) {
        seen_from[at(v)] = start;
        v = parent[at(v)];
      }
      if (v == 0 || seen_from[at(v)] != start) continue;
      std::vector<index_t> cycle{v};
      for (index_t u = parent[at(v)]; u != v; u = parent[at(u)]) cycle.push_back(u);
      return cycle;
    }
    return {};
  }

  /// Solves the problem in which the cycle is one node.  Converts the solution into a solution with all nodes.
  std::vector<index_t> open(std::vector<index_t> const& cycle, std::vector<index_t> const& best) const {
    auto const n = static_cast<index_t>(weight_.size());
    std::vector<bool> inside(weight_.size(), false);
    for (index_t const v : cycle) inside[at(v)] = true;
    std::vector<index_t> outside;  // the nodes outside of the cycle; in the smaller problem, the cycle is node m
    for (index_t v = 0; v < n; ++v)
      if (!inside[at(v)]) outside.push_back(v);
    auto const m = static_cast<index_t>(outside.size());

    constexpr double never = below_all<double>;
    std::vector<std::vector<double>> small(at(m + 1), std::vector<double>(at(m + 1), never));
    std::vector<index_t> entered(at(m), cycle[0]), left(at(m), cycle[0]);  // the cycle's node at the edge's end
    for (index_t a = 0; a < m; ++a) {
      for (index_t b = 0; b < m; ++b) small[at(a)][at(b)] = weight(outside[at(a)], outside[at(b)]);
      for (index_t const v : cycle) {
        double const in = weight(outside[at(a)], v) - weight(best[at(v)], v), out = weight(v, outside[at(a)]);
        if (in > small[at(a)][at(m)]) small[at(a)][at(m)] = in, entered[at(a)] = v;
        if (out > small[at(m)][at(a)]) small[at(m)][at(a)] = out, left[at(a)] = v;
      }
    }
    auto const found = arborescence_search(std::move(small)).solve();

    auto parent = best;  // correct inside of the cycle, except for the node to which the chosen edge leads
    for (index_t b = 1; b < m; ++b)
      parent[at(outside[at(b)])] = found[at(b)] == m ? left[at(b)] : outside[at(found[at(b)])];
    index_t const from = found[at(m)];
    parent[at(entered[at(from)])] = outside[at(from)];
    return parent;
  }

  std::vector<std::vector<double>> weight_;
};

}  // namespace detail

/// Returns the parent of every node.  The parent of a root is the root itself.  `score` is (n, n): score(i, j) is the
/// score of j as the parent of i, and score(i, i) is the score of i as a root.  Scores must be finite.  If several
/// solutions have the largest sum, the function always returns the same one.  Runs on the host.
template <class T>
std::vector<index_t> maximum_arborescence(matrix<T const> score, roots how_many = roots::any) {
  auto const n = score.extent(0);
  expect_shape("maximum_arborescence", "score", score, {n, n});
  auto const at = [](index_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::vector<double>> weight(at(n + 1), std::vector<double>(at(n + 1), below_all<double>));
  double largest = 0;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      auto const s = static_cast<double>(score(i, j));
      TRIAD_EXPECTS(is_finite(s), "maximum_arborescence: the score of node " + std::to_string(i) + " and parent " +
                                      std::to_string(j) + " is " + std::to_string(s) + ", expected a finite number");
      largest = std::max(largest, std::abs(s));
      weight[at(i == j ? 0 : j + 1)][at(i + 1)] = s;
    }
  // The penalty of a second root is larger than the sum that other edges can gain.
  double const penalty = how_many == roots::one ? (2 * static_cast<double>(n) + 1) * (largest + 1) : 0;
  for (index_t i = 0; i < n; ++i) weight[0][at(i + 1)] -= penalty;
  auto const found = detail::arborescence_search(std::move(weight)).solve();
  std::vector<index_t> parent(at(n));
  for (index_t i = 0; i < n; ++i) parent[at(i)] = found[at(i + 1)] == 0 ? i : found[at(i + 1)] - 1;
  return parent;
}

}  // namespace triad
