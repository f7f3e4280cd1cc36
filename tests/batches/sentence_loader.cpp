// Tests batches of sentences with parents and labels: the upload, and refused input.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/sentence_loader.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"
#include "triad/reference/reference.hpp"

namespace batches_sentence_loader_tests {

using namespace triad;
using list = std::vector<index_t>;
using sentence = std::vector<labelled_token>;

list listed(vec<index_t const> v) { return {v.data_handle(), v.data_handle() + v.size()}; }

TEST_CASE("a batch has what is right of every token, in the order of the tokens") {
  sentence_loader<reference::backend, double> loader({2, 5, 3, 9, 2}, 1, 4);
  loader.add(sentence{{7, 1, 2, 3, 4, 5}, {8, 1, 6}});
  loader.add(sentence{{9}});
  CHECK_FALSE(loader.has_room(1));
  auto const both = loader.upload();
  auto const& in = both.first;
  auto const& targets = both.second;
  CHECK(listed(in.token) == list{7, 8, 9});
  CHECK(listed(in.graphs.size) == list{2, 1});
  CHECK(listed(in.relation) == list{1, 2, 0, 1, 1});
  CHECK(listed(in.self) == list{0, 3, 4});
  CHECK((in.mask.empty() && in.edge_mask.extent(0) == 0));
  CHECK(listed(targets.parent) == list{1, 1, -1});
  CHECK(listed(targets.role) == list{2, 6, -1});
  CHECK(listed(targets.category) == list{3, -1, -1});
  CHECK(listed(targets.noun_type) == list{4, -1, -1});
  CHECK(listed(targets.verb) == list{5, -1, -1});
}

TEST_CASE("a dropped token says which word it was, and a token may stand elsewhere than at its place") {
  sentence_loader<reference::backend, double> loader({2, 5, 3, 9, 2}, 2, 4, {}, 8);
  loader.add(sentence{{.token = 0, .word = 7, .position = 1}, {.token = 8, .position = 7}});
  loader.add(sentence{{.token = 9}});
  auto const in = loader.upload().first;
  CHECK(listed(in.token) == list{0, 8, 9});
  CHECK(listed(in.words()) == list{7, 8, 9});
  CHECK(listed(in.position) == list{1, 7, 0});
  CHECK(listed(in.relation) == list{2, 4, 0, 2, 2});
  CHECK(in.waves.extent(0) == 8);
  loader.clear();
  loader.add(sentence{{.token = 9}});
  CHECK(loader.upload().first.word.extent(0) == 0);
  CHECK_THROWS_WITH(
      loader.add(sentence{{.token = 1, .position = 8}}),
      test::contains(
          "the position of a token is outside 0 to 7, expected one of those; give the loader more positions"));
  CHECK(loader.dims().nodes == 1);
}

TEST_CASE("a sentence whose parent is no token of it, or that has no room, is refused and changes nothing") {
  sentence_loader<reference::backend, double> loader({2, 5, 3, 9, 2}, 1, 4);
  CHECK_THROWS_WITH(loader.add(sentence{{1, 0}, {2, 2}}),
                    test::contains("the parent of token 1 is 2, expected a token of its sentence, 0 to 1"));
  CHECK_THROWS_WITH(loader.add(sentence(3)),
                    test::contains("sentence_loader: a sentence of 3 tokens does not fit: the batch has"));
  CHECK_THROWS_AS(loader.add(sentence{}), contract_violation);
  CHECK_THROWS_WITH(loader.add(sentence{{1, 0}, {-3, 0}}),
                    test::contains("sentence_loader: token 1 of a sentence is -3, expected 0 or more"));
  CHECK(loader.dims().nodes == 0);
  loader.add(sentence{{1, 0}, {2, 0}});
  auto const first = loader.upload();
  loader.clear();
  loader.add(sentence{{3, 1}, {4, 1}});
  auto const second = loader.upload();
  CHECK(listed(second.first.token) == list{3, 4});
  CHECK(listed(second.second.parent) == list{1, 1});
  CHECK(test::replay_number(first.first) == test::replay_number(second.first));  // only values differ
  CHECK(test::replay_number(first.second) == test::replay_number(second.second));
}

}  // namespace batches_sentence_loader_tests
