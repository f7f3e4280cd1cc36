// Tests batches of sentences with dependencies: the pair of each token, the upload, and refused input.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/dependency_loader.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"
#include "triad/reference/reference.hpp"

namespace batches_dependency_loader_tests {

using namespace triad;
using list = std::vector<index_t>;
using sentence = std::vector<attached_token>;

list listed(vec<index_t const> v) { return {v.data_handle(), v.data_handle() + v.size()}; }

TEST_CASE("every token has a pair with its parent, and one without a parent a pair that nothing is asked about") {
  dependency_loader<reference::backend, double> loader({2, 13, 5, 35, 3}, 1, 4);
  loader.add(sentence{{7, 1, 4}, {8, 1, 5}, {9, -1, 6}});
  loader.add(sentence{{7, 1, 2}, {8, 0, 3}});
  auto const both = loader.upload();
  auto const& pairs = both.first.pairs;
  CHECK(pairs.count() == 5);
  CHECK(listed(both.first.token) == list{7, 8, 9, 7, 8});
  CHECK(listed(pairs.child) == list{0, 1, 2, 3, 4});
  CHECK(listed(pairs.parent) == list{1, 1, 2, 4, 3});
  CHECK(listed(pairs.edge) == list{1, 4, 8, 9 + 1, 9 + 2});
  CHECK(listed(both.second.parent) == list{1, 1, -1, 1, 0});
  CHECK(listed(both.second.relation) == list{4, 5, -1, 2, 3});
}

TEST_CASE("a sentence with a parent that is none of its tokens, or without room, is refused and changes nothing") {
  dependency_loader<reference::backend, double> loader({3, 26, 8, 92, 4}, 2, 6);
  loader.add(sentence{{1, 0, 0}, {2, 0, 1}});
  CHECK_THROWS_WITH(loader.add(sentence{{1, 0, 0}, {2, 2, 1}}),
                    test::contains("the parent of token 1 is 2, expected a token of its sentence, 0 to 1"));
  CHECK_THROWS_WITH(loader.add(sentence(5)),
                    test::contains("dependency_loader: a sentence of 5 tokens does not fit: the batch has"));
  CHECK_THROWS_WITH(loader.add(sentence{{1, 0, 0}, {-1, 0, 1}}),
                    test::contains("dependency_loader: token 1 of a sentence is -1, expected 0 or more"));
  CHECK(loader.dims().nodes == 2);
  auto const first = loader.upload();
  loader.clear();
  CHECK(loader.dims().nodes == 0);
  loader.add(sentence{{3, 1, 0}, {4, 1, 1}});
  auto const second = loader.upload();
  CHECK(listed(second.first.pairs.edge) == list{1, 3});
  CHECK(test::replay_number(first.first) == test::replay_number(second.first));  // only values differ
}

}  // namespace batches_dependency_loader_tests
