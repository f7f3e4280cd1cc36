// Learns rules of composition from training graphs of two edges, and derives more questions about larger graphs.
// SPDX-License-Identifier: Apache-2.0
//
//   a b -> t      if (i, j) is labelled a and (j, k) is labelled b, then k is t to i
//
// Any two consecutive edges (i, j) and (j, k) of a graph give a question: what is the relation of k to i?  The answer
// is t if there is a rule for the two labels, and "no name" otherwise.  Without these questions, a model is trained
// only on pairs whose relation has a name, and then gives names to pairs whose relation has none.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "graph.hpp"

namespace triad::programs::graphs {

class composition_rules {
 public:
  /// Learns the rule of a graph whose two edges lead from one node of the question to the other.  Ignores other graphs.
  void learn(labelled_graph const& g) {
    if (g.edges.size() != 2) return;
    auto first = g.edges[0], second = g.edges[1];
    if (first.to != second.from) std::swap(first, second);
    if (first.to != second.from || node_pair{first.from, second.to} != g.query || g.target < 0) return;
    auto const [at, is_new] = rules_.try_emplace({first.label, second.label}, g.target);
    if (!is_new && at->second != g.target) at->second = several;
  }

  /// The number of pairs of labels that have a rule.
  std::size_t size() const { return rules_.size(); }

  /// Calls f(first label, second label, target) for each rule.  The target is -1 if training graphs give several
  /// targets.
  template <class F>
  void each(F const& f) const {
    for (auto const& [labels, target] : rules_) f(labels.first, labels.second, target);
  }

  /// Returns the additional questions about a graph, in the order of the nodes.  `no_name` is the target of a pair
  /// without a rule.  Skips a pair that already has an edge or a question.  Also skips a pair that would get two names,
  /// because training graphs of two edges disagree, or because two paths through `g` give different names.
  std::vector<further_target> questions(labelled_graph const& g, int no_name) const {
    std::multimap<int, edge> from;
    std::map<std::pair<int, int>, int> told;  // pairs with an edge or a question
    for (auto const& e : g.edges) {
      from.insert({e.from, e});
      told[{e.from, e.to}] = several;
    }
    told[{g.query.from, g.query.to}] = several;
    std::map<std::pair<int, int>, int> found;
    for (auto const& first : g.edges)
      for (auto [at, end] = from.equal_range(first.to); at != end; ++at) {
        auto const& second = at->second;
        std::pair const ends(first.from, second.to);
        if (ends.first == ends.second || told.contains(ends)) continue;
        auto const rule = rules_.find({first.label, second.label});
        int const target = rule == rules_.end() ? no_name : rule->second;
        auto const [known, is_new] = found.try_emplace(ends, target);
        if (is_new || target == no_name || known->second == target) continue;
        known->second = known->second == no_name ? target : several;  // one path with a name is enough
      }
    std::vector<further_target> all;
    for (auto const& [ends, target] : found)
      if (target != several) all.push_back({{ends.first, ends.second}, target});
    return all;
  }

 private:
  static constexpr int several = -1;

  std::map<std::pair<int, int>, int> rules_;  // the target, by the labels of the two edges
};

}  // namespace triad::programs::graphs
