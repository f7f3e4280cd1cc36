// Makes chains of facts.  The rules of composition are taken from training rows of two facts.
// SPDX-License-Identifier: Apache-2.0
//
// A chain is made in these steps.  First, the answer is drawn uniformly from the answers of all rules.  It is the first
// fact.  Then facts are replaced until there are k facts: one fact is drawn uniformly among the facts that are the
// result of a rule; a rule is drawn uniformly among the rules with this result; and the two facts that the rule
// composes replace the drawn fact.  The finished chain is kept if the rules derive its answer and no other answer, in
// any order of composition.
//
// These chains can have any length, but need only compositions that occur in training.  The answers to the chains of
// chain_generator hold in every family, and may need rules that no training row shows.  In many of the chains made
// here, as in the published test chains, two consecutive facts have a composition without a name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "graphs/rules.hpp"
#include "shared/report/refuse.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::clutrr {

class derived_chains {
 public:
  /// `words` is the vocabulary of the training rows with the rules.  Throws data_error if there is no rule.
  derived_chains(graphs::composition_rules const& rules, vocabulary const& words, std::uint64_t seed)
      : words_(words), seed_(seed) {
    rules.each([&](int first, int second, int target) {
      if (target < 0) return;  // training rows disagree about the answer
      composed_[{first, second}] = target;
      parts_[target].emplace_back(first, second);
    });
    if (parts_.empty()) refuse("no training row of two facts says what they are together, so no longer chain follows");
    for (auto const& [target, _] : parts_) answers_.push_back(target);
  }

  /// Makes a chain of k >= 2 facts about people 0, 1, ..., k in this order.  The question is the relation of k to 0.
  /// Throws data_error if it finds no chain.
  kinship_graph next(int k) {
    constexpr int most_tries = 100'000;
    for (int i = 0; i < most_tries; ++i) {
      counter_random random(seed_, made_++);
      int const answer = answers_[static_cast<std::size_t>(random.below(static_cast<int>(answers_.size())))];
      auto const facts = chain(random, answer, k);
      if (static_cast<int>(facts.size()) == k && derived(facts) == std::set{answer}) return graph_of(facts, answer);
    }
    refuse(
        "the rules of the training rows give no chain of {} facts with one answer: give rows of two facts whose "
        "answers are relations that facts have too",
        k);
  }

  /// Returns the targets that the rules derive from a chain of facts with these labels, in any order of composition.
  std::set<int> derived(std::vector<int> const& facts) const {
    auto const n = facts.size();
    std::map<std::pair<std::size_t, std::size_t>, std::set<int>> labels;  // possible labels of facts [from, to)
    std::set<int> targets;
    for (std::size_t i = 0; i < n; ++i) labels[{i, i + 1}] = {facts[i]};
    for (std::size_t length = 2; length <= n; ++length)
      for (std::size_t i = 0; i + length <= n; ++i) {
        targets.clear();
        for (auto middle = i + 1; middle < i + length; ++middle)
          for (int const first : labels[{i, middle}])
            for (int const second : labels[{middle, i + length}])
              if (auto const at = composed_.find({first, second}); at != composed_.end()) targets.insert(at->second);
        for (int const t : targets)
          if (int const label = words_.edge_label(words_.target_name(t)); label > 0)
            labels[{i, i + length}].insert(label);
      }
    return targets;
  }

 private:
  using facts_by_label = std::vector<int>;

  /// Returns the target with the same name as the label.  Returns -1 if no rule has this target as its result.
  int made(int label) const {
    int const target = words_.target(words_.edge_name(label));
    return parts_.contains(target) ? target : -1;
  }
  std::pair<int, int> drawn(counter_random& random, int target) const {
    auto const& ways = parts_.at(target);
    return ways[static_cast<std::size_t>(random.below(static_cast<int>(ways.size())))];
  }
  /// Makes a chain of k facts.  Returns a shorter chain if none of its facts is the result of a rule.
  facts_by_label chain(counter_random& random, int answer, int k) const {
    auto const [first, second] = drawn(random, answer);
    facts_by_label facts{first, second};
    while (static_cast<int>(facts.size()) < k) {
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < facts.size(); ++i)
        if (made(facts[i]) >= 0) places.push_back(i);
      if (places.empty()) break;
      auto const at = places[static_cast<std::size_t>(random.below(static_cast<int>(places.size())))];
      auto const [before, behind] = drawn(random, made(facts[at]));
      facts[at] = before;
      facts.insert(facts.begin() + static_cast<std::ptrdiff_t>(at) + 1, behind);
    }
    return facts;
  }
  static kinship_graph graph_of(facts_by_label const& facts, int answer) {
    kinship_graph g;
    g.k = static_cast<int>(facts.size());
    g.nodes = g.k + 1;
    for (int i = 0; i < g.k; ++i) g.edges.push_back({i, i + 1, facts[static_cast<std::size_t>(i)]});
    g.query = {0, g.k};
    g.target = answer;
    return g;
  }

  vocabulary words_;
  std::uint64_t seed_, made_ = 0;
  std::map<std::pair<int, int>, int> composed_;            // the target, by the labels of both facts
  std::map<int, std::vector<std::pair<int, int>>> parts_;  // the label pairs of all rules, by target
  std::vector<int> answers_;
};

}  // namespace triad::programs::clutrr
