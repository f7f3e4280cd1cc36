// Compares the compositions of relations with sampled families. Tests what the generator of chains guarantees.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "graphs/clutrr/family.hpp"
#include "graphs/clutrr/genealogy.hpp"
#include "graphs/clutrr/generate.hpp"
#include "tests/catch.hpp"
#include "triad/core/random.hpp"

namespace programs_clutrr_generate_tests {

namespace clutrr = triad::programs::clutrr;
using clutrr::relation, clutrr::relation_set;

relation named(std::string const& name) {
  for (std::size_t i = 0; i < clutrr::relations; ++i)
    if (clutrr::relation_words[i].name == name) return static_cast<relation>(i);
  FAIL("no relation is called " << name);
  return relation::other;
}

std::vector<relation> facts_of(clutrr::kinship_graph const& graph) {
  std::vector<relation> chain;
  for (auto const& e : graph.edges) chain.push_back(named(clutrr::generated_vocabulary().edge_name(e.label)));
  return chain;
}

std::string spelled(std::vector<relation> const& chain) {
  std::string text;
  for (auto const r : chain) text += (text.empty() ? "" : " ") + std::string(clutrr::name_of(r));
  return text;
}

// All relations in one sampled family. Finds the relations that a chain of facts can have in this family.
struct known_family {
  clutrr::family people;
  std::vector<relation> table;

  explicit known_family(std::uint64_t seed, int size, int most_children) {
    triad::counter_random random(seed);
    people.sample(random, size, most_children);
    for (int a = 0; a < people.size(); ++a)
      for (int b = 0; b < people.size(); ++b) table.push_back(people.between(a, b));
  }

  relation operator()(int a, int b) const { return table[static_cast<std::size_t>(a * people.size() + b)]; }

  // Returns the relations of the last person to the first, over all walks along the chain through distinct people.
  relation_set ends(std::vector<relation> const& chain) const {
    relation_set found;
    std::vector<int> path;
    for (int a = 0; a < people.size(); ++a) {
      path.assign(1, a);
      walk(chain, path, found);
    }
    return found;
  }

 private:
  void walk(std::vector<relation> const& chain, std::vector<int>& path, relation_set& found) const {
    if (path.size() == chain.size() + 1) {
      found = found | relation_set::of((*this)(path.front(), path.back()));
      return;
    }
    for (int next = 0; next < people.size(); ++next) {
      if ((*this)(path.back(), next) != chain[path.size() - 1]) continue;
      bool again = false;
      for (int const p : path) again = again || p == next;
      if (again) continue;
      path.push_back(next);
      walk(chain, path, found);
      path.pop_back();
    }
  }
};

std::vector<known_family> const& families() {
  static std::vector<known_family> const sampled = [] {
    std::vector<known_family> result;
    for (std::uint64_t seed = 0; seed < 60; ++seed) result.emplace_back(seed, 40, 4);
    return result;
  }();
  return sampled;
}

TEST_CASE("a composition is exactly the set of relations that sampled families show") {
  std::array<std::array<relation_set, clutrr::relations>, clutrr::relations> seen{};
  for (auto const& f : families())
    for (int a = 0; a < f.people.size(); ++a)
      for (int b = 0; b < f.people.size(); ++b)
        for (int c = 0; c < f.people.size(); ++c) {
          if (a == c || f(a, b) == relation::other || f(b, c) == relation::other) continue;
          auto& set = seen[static_cast<std::size_t>(f(a, b))][static_cast<std::size_t>(f(b, c))];
          set = set | relation_set::of(f(a, c));
        }
  for (std::size_t r = 0; r < clutrr::relations; ++r)
    for (std::size_t s = 0; s < clutrr::relations; ++s) {
      INFO(clutrr::relation_words[r].name << ", then " << clutrr::relation_words[s].name);
      CHECK(clutrr::compose(static_cast<relation>(r), static_cast<relation>(s)).bits == seen[r][s].bits);
    }
}

TEST_CASE("compositions one can check by hand") {
  CHECK(clutrr::compose(relation::mother, relation::mother) == relation_set::of(relation::grandmother));
  CHECK(clutrr::compose(relation::son, relation::mother) == relation_set::of(relation::wife));
  CHECK(clutrr::compose(relation::grandmother, relation::son) ==
        (relation_set::of(relation::father) | relation_set::of(relation::uncle)));
  CHECK(clutrr::compose(relation::mother, relation::niece) == relation_set::of(relation::other));  // a cousin
  CHECK(clutrr::compose(relation::husband, relation::husband).empty());
  // An uncle's brother may be the father, unless the father is already in the story.
  auto const uncle_brother = std::vector{relation::uncle, relation::brother};
  auto const father_brother_brother = std::vector{relation::father, relation::brother, relation::brother};
  CHECK_FALSE(clutrr::answers(uncle_brother).unique());
  CHECK(clutrr::answers(father_brother_brother) == relation_set::of(relation::uncle));
}

TEST_CASE("relations mirror when men and women are exchanged") {
  auto const mirrored = [](relation r) {
    if (r == relation::other) return r;
    auto const& w = clutrr::word_of(r);
    return clutrr::relation_of(w.first, w.second,
                               w.to == clutrr::gender::male ? clutrr::gender::female : clutrr::gender::male);
  };
  for (std::size_t r = 0; r < clutrr::relations; ++r)
    for (std::size_t s = 0; s < clutrr::relations; ++s) {
      auto const a = static_cast<relation>(r);
      auto const b = static_cast<relation>(s);
      relation_set expected;
      for (unsigned x = 0; x <= clutrr::relations; ++x)
        if (clutrr::compose(a, b).has(static_cast<relation>(x)))
          expected = expected | relation_set::of(mirrored(static_cast<relation>(x)));
      CHECK(clutrr::compose(mirrored(a), mirrored(b)) == expected);
    }
}

TEST_CASE("what a chain of three can be is exactly what families show, and a unique answer is always provable") {
  std::vector<relation> told;
  for (std::size_t i = 0; i < clutrr::relations; ++i)
    if (clutrr::relation_words[i].told) told.push_back(static_cast<relation>(i));
  std::map<std::vector<relation>, relation_set> seen;
  for (auto const& f : families())
    for (int a = 0; a < f.people.size(); ++a)
      for (int b = 0; b < f.people.size(); ++b)
        for (int c = 0; c < f.people.size(); ++c)
          for (int d = 0; d < f.people.size(); ++d) {
            if (f(a, b) == relation::other || f(b, c) == relation::other || f(c, d) == relation::other) continue;
            if (a == c || a == d || b == d) continue;
            auto& set = seen[{f(a, b), f(b, c), f(c, d)}];
            set = set | relation_set::of(f(a, d));
          }
  int unique = 0;
  for (auto const x : told)
    for (auto const y : told)
      for (auto const z : told) {
        std::vector const chain{x, y, z};
        auto const claim = clutrr::answers(chain);
        auto const at = seen.find(chain);
        auto const shown = at == seen.end() ? relation_set{} : at->second;
        INFO(spelled(chain));
        CHECK((shown | claim) == claim);  // no family contradicts the claim
        // If a claim has several relations, the sampled families have several, too.
        if (!claim.unique()) CHECK(!shown.unique());
        if (!claim.unique()) continue;
        ++unique;
        CHECK(shown == claim);
        auto const left = clutrr::compose(x, y);
        auto const right = clutrr::compose(y, z);
        bool const provable = (left.unique() && clutrr::compose(left.only(), z).unique()) ||
                              (right.unique() && clutrr::compose(x, right.only()).unique());
        CHECK(provable);
      }
  CHECK(unique == 308);
}

TEST_CASE("no family contradicts the answer of a generated chain") {
  auto const& words = clutrr::generated_vocabulary();
  clutrr::chain_generator chains(11);
  int walked = 0;
  for (int i = 0; i < 400; ++i) {
    auto const graph = chains.next(2 + i % 5);
    auto const chain = facts_of(graph);
    auto const answer = relation_set::of(named(words.target_name(graph.target)));
    INFO(spelled(chain));
    REQUIRE(clutrr::answers(chain) == answer);
    for (std::size_t f = 0; f < 4; ++f) {
      auto const ends = families()[(static_cast<std::size_t>(i) + 15 * f) % families().size()].ends(chain);
      REQUIRE((ends.empty() || ends == answer));
      walked += ends.empty() ? 0 : 1;
    }
  }
  CHECK(walked > 500);
}

TEST_CASE("a chain tells k facts about k + 1 people in order and can be proved") {
  auto const& words = clutrr::generated_vocabulary();
  for (int const k : {2, 3, 4, 7, 10, 20, 31}) {
    clutrr::chain_generator chains(5);
    for (int i = 0; i < 40; ++i) {
      auto const graph = chains.next(k);
      REQUIRE(graph.k == k);
      REQUIRE(graph.nodes == k + 1);
      REQUIRE(graph.edges.size() == static_cast<std::size_t>(k));
      REQUIRE(graph.query == clutrr::node_pair{0, k});
      auto const chain = facts_of(graph);
      std::map<std::pair<int, int>, relation> proved;
      for (int e = 0; e < k; ++e) {
        auto const& fact = graph.edges[static_cast<std::size_t>(e)];
        REQUIRE((fact.from == e && fact.to == e + 1));
        proved[{e, e + 1}] = chain[static_cast<std::size_t>(e)];
      }
      auto const& proof = chains.proof();
      REQUIRE(proof.size() == static_cast<std::size_t>(k) - 1);
      for (auto step = proof.rbegin(); step != proof.rend(); ++step) {
        REQUIRE(proved.at({step->from, step->middle}) == step->first);
        REQUIRE(proved.at({step->middle, step->to}) == step->second);
        auto const whole = clutrr::compose(step->first, step->second);
        REQUIRE(whole.unique());
        proved[{step->from, step->to}] = whole.only();
      }
      REQUIRE(proved.at({0, k}) == named(words.target_name(graph.target)));
      REQUIRE(clutrr::answers(chain) == relation_set::of(proved.at({0, k})));
    }
  }
}

TEST_CASE("a chain depends on seed, number and k alone") {
  clutrr::chain_generator one(3);
  clutrr::chain_generator other(3);
  for (int i = 0; i < 200; ++i) REQUIRE(one.next(2 + i % 9) == other.next(2 + i % 9));
  CHECK(one.position() == 200);
  other.seek(57);
  auto const again = other.next(2 + 57 % 9);
  clutrr::chain_generator fresh(3);
  for (int i = 0; i < 57; ++i) fresh.next(10);  // earlier chains of other lengths have no effect
  CHECK(fresh.next(2 + 57 % 9) == again);

  // The chains must be the same on every machine, so this compares a hash of the chains for one seed.
  std::uint64_t hash = 1469598103934665603U;
  clutrr::chain_generator chains(2024);
  for (int i = 0; i < 300; ++i) {
    auto const graph = chains.next(2 + i % 9);
    for (auto const& e : graph.edges) hash = (hash ^ static_cast<std::uint64_t>(e.label)) * 1099511628211U;
    hash = (hash ^ static_cast<std::uint64_t>(graph.target)) * 1099511628211U;
  }
  CHECK(hash == 0xfd48aad1c26ec8f9U);
}

TEST_CASE("short chains teach every rule that long chains need, evenly over answers and genders") {
  auto const& words = clutrr::generated_vocabulary();
  std::set<std::pair<relation, relation>> taught;
  std::set<std::vector<relation>> pairs;
  std::vector<int> answers(words.targets.names().size(), 0);
  int men = 0;
  int facts = 0;
  int const chains_made = 12000;
  clutrr::chain_generator short_chains(1);
  for (int i = 0; i < chains_made; ++i) {
    auto const graph = short_chains.next(2 + i % 3);
    for (auto const& step : short_chains.proof()) taught.insert({step.first, step.second});
    if (graph.k == 2) pairs.insert(facts_of(graph));
    ++answers[static_cast<std::size_t>(graph.target)];
    for (auto const r : facts_of(graph)) men += clutrr::word_of(r).to == clutrr::gender::male ? 1 : 0;
    facts += graph.k;
  }
  std::size_t possible = 0;  // number of compositions of two facts whose result may be an answer
  for (std::size_t r = 0; r < clutrr::relations; ++r)
    for (std::size_t s = 0; s < clutrr::relations; ++s) {
      auto const set = clutrr::compose(static_cast<relation>(r), static_cast<relation>(s));
      if (!clutrr::relation_words[r].told || !clutrr::relation_words[s].told || !set.unique()) continue;
      possible += clutrr::word_of(set.only()).asked ? 1 : 0;
    }
  CHECK(pairs.size() == possible);

  clutrr::chain_generator long_chains(2);
  for (int i = 0; i < 1500; ++i) {
    long_chains.next(5 + i % 8);
    for (auto const& step : long_chains.proof()) {
      INFO(clutrr::name_of(step.first) << ", then " << clutrr::name_of(step.second));
      REQUIRE(taught.count({step.first, step.second}) == 1);
    }
  }

  double const share = 1.0 / static_cast<double>(answers.size());
  for (int const n : answers) {
    CHECK(n > 0.8 * share * chains_made);
    CHECK(n < 1.2 * share * chains_made);
  }
  CHECK(men > 0.48 * facts);
  CHECK(men < 0.52 * facts);
}

TEST_CASE("a chain of one fact is refused") {
  clutrr::chain_generator chains(1);
  CHECK_THROWS_AS(chains.next(1), std::invalid_argument);
}

}  // namespace programs_clutrr_generate_tests
