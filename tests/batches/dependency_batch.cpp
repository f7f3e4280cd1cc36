// Tests batches for dependency parsers: batches that only measure memory, the sum of two losses, and the key of a
// recorded step.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/dependency_batch.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/replay_number.hpp"
#include "triad/reference/reference.hpp"

namespace batches_dependency_batch_tests {

using namespace triad;
using test::WithinAbs;

TEST_CASE("sentences with pairs, answers and scores have the sizes of their batch") {
  graph_dims const dims{2, 13, 5, 35, 3};
  auto const in = dependency_batch<double>::measured(dims, 6);
  CHECK((in.token.extent(0) == 5 && in.pairs.count() == 5));
  CHECK((in.pairs.child.extent(0) == 5 && in.pairs.parent.extent(0) == 5 && in.waves.extent(1) == 6));
  auto const targets = dependency_answers::measured(dims);
  CHECK((targets.parent.extent(0) == 5 && targets.relation.extent(0) == 5));
  arena measure;
  auto const scores = dependency_scores<double>::plan(measure, dims, 7);
  CHECK((scores.arc.extent(0) == 13 && scores.relation.extent(0) == 5 && scores.relation.extent(1) == 7));
}

TEST_CASE("the loss is that of parents and that of relations, each a mean over what is asked") {
  test::ragged const graphs({3, 2});
  auto const plan = [&](arena& place) { return dependency_scores<double>::plan(place, graphs.dims, 4); };
  std::vector<double> scores_memory(100), gradient_memory(100, 9.0);
  arena score_place(scores_memory.data(), 800), gradient_place(gradient_memory.data(), 800);
  auto const scores = plan(score_place), d = plan(gradient_place);
  std::vector<index_t> const parent{0, 0, 1, -1, -1}, relation{0, -1, 3, -1, -1};
  double loss = 9;
  reference::backend ex;
  test::with_scratch(ex, {}, [&](auto& e, call const& c) {
    dependency_loss(e, *c.scratch, graphs.batch(), scores, {make_vec(parent.data(), 5), make_vec(relation.data(), 5)},
                    make_vec(&loss, 1), d);
  });
  CHECK_THAT(loss, WithinAbs(std::log(3.0) + std::log(4.0), 1e-14));
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 3; ++j)
      CHECK_THAT(d.arc(3 * i + j),
                 WithinAbs((1.0 / 3 - (j == parent[static_cast<std::size_t>(i)] ? 1 : 0)) / 3, 1e-15));
  for (index_t r = 9; r < 13; ++r) CHECK(d.arc(r) == 0);
  for (index_t k = 0; k < 4; ++k) {
    CHECK_THAT(d.relation(0, k), WithinAbs((0.25 - (k == 0 ? 1 : 0)) / 2, 1e-15));
    CHECK(d.relation(1, k) == 0);
  }
}

TEST_CASE("recorded work is for one list of pairs") {
  auto const in = dependency_batch<double>::measured({2, 13, 5, 35, 3}, 6);
  std::vector<index_t> const numbers(5);
  for (auto member : {&token_pairs::edge, &token_pairs::child, &token_pairs::parent}) {
    auto other = in;
    other.pairs.*member = make_vec(numbers.data(), 5);
    CHECK(test::replay_number(other) != test::replay_number(in));
  }
  CHECK(test::replay_number(dependency_batch<double>::measured({2, 13, 5, 35, 3}, 6)) == test::replay_number(in));
}

}  // namespace batches_dependency_batch_tests
