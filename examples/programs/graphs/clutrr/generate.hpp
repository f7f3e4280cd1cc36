// Generates any number of noise-free chains of facts like those of CLUTRR. The answer to a chain is the same in all
// families.
// SPDX-License-Identifier: Apache-2.0
//
// A chain is made in these steps. The answer is drawn uniformly from the targets. A family is sampled, and two people
// with this relation are drawn from it. Then, until there are k facts, a fact (a, b) is replaced by two facts (a, c)
// and (c, b), in which c is a person of the family who is not yet in the chain. The set compose() of the two facts must
// contain only the relation of the replaced fact.
//
// Read in reverse order, these steps prove the relation of the last person to the first. Each step holds in every
// family, so the proof holds in every family too. The sampled family shows that such people exist and are distinct.
// Some other chains have only one answer too, but no proof of single relations: only sets of possible relations show
// the answer. The generator does not make these chains, so a model can learn every chain rule by rule.
//
// The facts use the 14 relations of facts in the published data sets, and the answers use the 18 relations of published
// answers. All 20 relations occur inside proofs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "family.hpp"
#include "genealogy.hpp"
#include "graph.hpp"
#include "shared/report/refuse.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::clutrr {

/// The vocabulary of generated chains. It is the vocabulary of the published training files, in the same order.
inline vocabulary const& generated_vocabulary() {
  static vocabulary const words = [] {
    vocabulary v;
    for (auto const& word : relation_words) {
      if (word.told) v.edge_labels.add(std::string(word.name));
      if (word.asked) v.targets.add(std::string(word.name));
    }
    return v;
  }();
  return words;
}

/// Converts a generated chain to the numbers of another vocabulary, for a model that was trained on other data.
inline kinship_graph translated(kinship_graph g, vocabulary const& to) {
  auto const& from = generated_vocabulary();
  for (auto& e : g.edges) {
    e.label = to.edge_label(from.edge_name(e.label));
    if (e.label == 0) refuse("the model does not know a relation of the generated chains; give a data set with --data");
  }
  g.target = to.target(from.target_name(g.target));
  return g;
}

/// Generates chains. Chain i depends only on the seed, on i and on its k, and is the same on every platform. position()
/// is the whole state of a generator.
class chain_generator {
 public:
  /// Fact (from, to) was replaced by (from, middle) and (middle, to). The members are numbers of people in the finished
  /// chain.
  struct proof_step {
    int from;
    int middle;
    int to;
    relation first;
    relation second;
  };

  explicit chain_generator(std::uint64_t seed) : seed_(seed) {}

  /// Makes a chain of k >= 2 facts about people 0, 1, ..., k in this order. The question is the relation of k to 0.
  kinship_graph next(int k) {
    if (k < 2) throw std::invalid_argument("a chain needs at least 2 facts, but k is " + std::to_string(k));
    counter_random random(seed_, made_++);
    relation const answer = draw_answer(random);
    for (int attempt = 0;; ++attempt) {
      // All people of a chain are close kin, so a long chain needs large homes. After each failure, the homes are made
      // larger.
      family_.sample(random, 12 + 4 * k + attempt, 4 + k / 2 + attempt / 4);
      if (start(random, answer) && grow(random, k)) return finish(answer);
    }
  }

  /// The number of chains that were made so far.
  [[nodiscard]] std::uint64_t position() const { return made_; }

  /// Continues after the first `made` chains.
  void seek(std::uint64_t made) { made_ = made; }

  /// The proof of the chain that was made last: first how its answer was split into two facts, then the later splits.
  [[nodiscard]] std::vector<proof_step> const& proof() const { return proof_; }

 private:
  struct fact {
    int from;
    int to;
    relation is;
  };

  struct split {
    relation first;
    relation second;
    int middle;

    [[nodiscard]] int rule() const { return static_cast<int>(first) * relations + static_cast<int>(second); }
    [[nodiscard]] int untold() const { return (word_of(first).told ? 0 : 1) + (word_of(second).told ? 0 : 1); }
  };

  static relation draw_answer(counter_random& random) {
    auto const& words = generated_vocabulary();
    auto const& name = words.target_name(random.below(words.targets.end()));
    for (std::size_t i = 0; i < relations; ++i)
      if (relation_words[i].name == name) return static_cast<relation>(i);
    return relation::other;  // not reached: targets are names of relations
  }

  // Starts a chain with one fact about two people in relation `answer`. Returns false if the family has no such pair.
  bool start(counter_random& random, relation answer) {
    int const people = family_.size();
    for (int i = 0; i < people; ++i) {
      int const a = random.below(people);
      candidates_.clear();
      for (int b = 0; b < people; ++b)
        if (family_.between(a, b) == answer) candidates_.push_back({answer, answer, b});
      if (candidates_.empty()) continue;
      int const b = candidates_[static_cast<std::size_t>(random.below(static_cast<int>(candidates_.size())))].middle;
      facts_.assign(1, {a, b, answer});
      taken_.assign(static_cast<std::size_t>(people), 0);
      taken_[static_cast<std::size_t>(a)] = taken_[static_cast<std::size_t>(b)] = 1;
      splits_.clear();
      return true;
    }
    return false;
  }

  // Splits facts until there are `k` facts, whose relations are all allowed for facts. Returns false if this is
  // impossible.
  bool grow(counter_random& random, int k) {
    for (int left = k - 1; left > 0; --left) {
      int untold = 0;
      for (auto const& f : facts_) untold += word_of(f.is).told ? 0 : 1;
      bool grown = false;
      int const count = static_cast<int>(facts_.size());
      int const offset = random.below(count);
      for (int i = 0; i < count && !grown; ++i) {
        auto const at = static_cast<std::size_t>((i + offset) % count);
        bool const told = word_of(facts_[at].is).told;
        if (told && untold == left) continue;  // each remaining split must remove a relation that facts cannot have
        grown = split_fact(random, at, left - 1 - untold + (told ? 0 : 1));
      }
      if (!grown) return false;
    }
    return true;
  }

  // Replaces fact `at` by two facts. At most `untold` of the two have a relation that facts cannot have. A rule is
  // drawn uniformly from the rules that fit, and then a person is drawn uniformly for this rule.
  bool split_fact(counter_random& random, std::size_t at, int untold) {
    fact const whole = facts_[at];
    candidates_.clear();
    rules_.clear();
    for (int c = 0; c < family_.size(); ++c) {
      if (taken_[static_cast<std::size_t>(c)] != 0) continue;
      relation const first = family_.between(whole.from, c);
      if (first == relation::other) continue;
      relation const second = family_.between(c, whole.to);
      if (second == relation::other || !compose(first, second).unique()) continue;
      split const s{first, second, c};
      if (s.untold() > untold) continue;
      candidates_.push_back(s);
      bool known = false;
      for (int const rule : rules_) known = known || rule == s.rule();
      if (!known) rules_.push_back(s.rule());
    }
    if (rules_.empty()) return false;
    int const rule = rules_[static_cast<std::size_t>(random.below(static_cast<int>(rules_.size())))];
    std::erase_if(candidates_, [rule](split const& s) { return s.rule() != rule; });
    split const s = candidates_[static_cast<std::size_t>(random.below(static_cast<int>(candidates_.size())))];
    taken_[static_cast<std::size_t>(s.middle)] = 1;
    splits_.push_back({whole.from, s.middle, whole.to, s.first, s.second});
    facts_[at] = {whole.from, s.middle, s.first};
    facts_.insert(facts_.begin() + static_cast<std::ptrdiff_t>(at) + 1, {s.middle, whole.to, s.second});
    return true;
  }

  // Numbers the people in the order of the chain.
  kinship_graph finish(relation answer) {
    auto const& words = generated_vocabulary();
    kinship_graph graph;
    int const k = static_cast<int>(facts_.size());
    auto& place = taken_;
    place[static_cast<std::size_t>(facts_.front().from)] = 0;
    for (int i = 0; i < k; ++i) {
      auto const& f = facts_[static_cast<std::size_t>(i)];
      place[static_cast<std::size_t>(f.to)] = i + 1;
      graph.edges.push_back({i, i + 1, words.edge_label(name_of(f.is))});
    }
    proof_ = splits_;
    for (auto& s : proof_) {
      s.from = place[static_cast<std::size_t>(s.from)];
      s.middle = place[static_cast<std::size_t>(s.middle)];
      s.to = place[static_cast<std::size_t>(s.to)];
    }
    graph.nodes = k + 1;
    graph.query = {0, k};
    graph.target = words.target(name_of(answer));
    graph.k = k;
    return graph;
  }

  std::uint64_t seed_;
  std::uint64_t made_ = 0;
  family family_;
  std::vector<fact> facts_;
  std::vector<int> taken_;  // 1 if the chain has this person; finish(): the person's number
  std::vector<split> candidates_;
  std::vector<int> rules_;
  std::vector<proof_step> splits_;
  std::vector<proof_step> proof_;
};

}  // namespace triad::programs::clutrr
