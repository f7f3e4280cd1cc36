// Tests the search for a split by the divergence of compounds: properties of a split, and inputs that cannot be split.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/compound_split.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/text/derived.hpp"

namespace io_compound_split_tests {

using namespace triad::text;
using triad::test::contains, triad::test::derived;

/// All sentences of three words. Each word is one of six, and must occur in training. A compound of three rules has two
/// of the words.
struct sentences {
  derived all{[] {
    std::vector<std::string> texts;
    for (int i = 0; i < 216; ++i)
      texts.push_back(R"(["S", "a)" + std::to_string(i % 6) + R"(", "b)" + std::to_string(i / 6 % 6) + R"(", "c)" +
                      std::to_string(i / 36) + R"("])");
    return texts;
  }()};
  item_table atoms = atoms_of(all.trees, all.rules()), compounds = compounds_of(all.trees, 3);
  std::vector<std::vector<int>> words;
  sentences() {
    for (auto const& items : atoms.of) {
      auto& mine = words.emplace_back();
      for (auto const& i : items) mine.push_back(i.what);
    }
  }
};

TEST_CASE("a split has its sizes, nothing twice, known words, near atoms and far compounds") {
  sentences const s;
  split_options const o{.train = 80, .held_out = 20, .seed = 3};
  auto const found = split_by_compounds(s.atoms, s.compounds, s.words, o);
  auto const again = split_by_compounds(s.atoms, s.compounds, s.words, o);
  CHECK((found.train == again.train && found.held_out == again.held_out));
  CHECK(found.train.size() == 80);
  CHECK(found.held_out.size() == 20);
  std::set<int> all(found.train.begin(), found.train.end());
  all.insert(found.held_out.begin(), found.held_out.end());
  CHECK(all.size() == 100);
  CHECK((*all.begin() >= 0 && *all.rbegin() < 216));
  std::set<int> known;
  for (int const i : found.train)
    known.insert(s.words[static_cast<std::size_t>(i)].begin(), s.words[static_cast<std::size_t>(i)].end());
  for (int const i : found.held_out)
    for (int const w : s.words[static_cast<std::size_t>(i)]) REQUIRE(known.contains(w));

  CHECK(divergence_of(s.atoms, found.train, found.held_out, alpha_of_atoms) <= 0.02);
  CHECK(divergence_of(s.compounds, found.train, found.held_out, alpha_of_compounds) > 0.3);
  std::vector<int> even, held;  // even: a split without a search
  for (int i = 0; i < 216; ++i)
    if (i % 5 < 2)
      even.push_back(i);
    else if (i % 10 == 4)
      held.push_back(i);
  CHECK(divergence_of(s.compounds, even, held, alpha_of_compounds) < 0.1);
  CHECK(split_by_compounds(s.atoms, s.compounds, s.words, {.train = 80, .held_out = 20, .seed = 4}).train !=
        found.train);
}

TEST_CASE("a search asks for its random numbers, and is the same for the same ones") {
  sentences const s;
  struct turns {  // returns 0, 1, 2, ..., modulo the given bound
    int* asked;
    int below(int bound) { return (*asked)++ % bound; }
  };
  std::vector<int> order(216);
  std::iota(order.rbegin(), order.rend(), 0);
  int asked = 0, again = 0;
  split_options const o{.train = 40, .held_out = 10, .passes = 2};
  auto const one = split_search(s.atoms, s.compounds, s.words, o, order, turns{&asked}).run();
  auto const other = split_search(s.atoms, s.compounds, s.words, o, order, turns{&again}).run();
  CHECK((one.train == other.train && one.held_out == other.held_out));
  CHECK(asked == again);
  CHECK(asked > 50 * o.candidates);
  order.pop_back();
  CHECK_THROWS_AS(split_search(s.atoms, s.compounds, s.words, o, order, turns{&asked}), triad::contract_violation);
}

TEST_CASE("a split that there is not is refused") {
  sentences const s;
  auto const split = [&](int train, int held_out) {
    return split_by_compounds(s.atoms, s.compounds, s.words, {.train = train, .held_out = held_out});
  };
  CHECK_THROWS_WITH(split(200, 17), contains("a split of 200 and 17 examples, expected at most 216"));
  CHECK_THROWS_WITH(split(0, 10), contains("expected 1 or more and 2 or more"));
  CHECK_THROWS_WITH(split(10, 1), contains("expected 1 or more and 2 or more"));
  CHECK_THROWS_WITH(split(1, 200), contains("give more of them"));
}

}  // namespace io_compound_split_tests
