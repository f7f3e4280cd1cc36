// Tests that wrong uses of training, averages, snapshots and searches are refused.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/misuse/misuse.hpp"
#include "tests/train/small_graphs.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/decoding/beam_search.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/averages.hpp"
#include "triad/train/fit.hpp"
#include "triad/tree/gather.hpp"
#include "triad/tree/symbol_algebra.hpp"

namespace misuse_training_tests {

using namespace triad;
using test::expect_sentence;
using test::most_index;

constexpr double none = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
struct placed {
  index_t position, filler;
};

TEST_CASE("numbers that would spoil a training are refused before it") {
  using run = test::small_run<reference::backend>;
  using learner = std::remove_cvref_t<decltype(std::declval<run&>().learner)>;
  run r;
  auto pass = r.pass(0);
  auto const& [in, targets] = *pass.begin();
  for (double const rate : {none, endless, -1.0})
    expect_sentence("a rate", [&] { r.learner.update(in, targets, rate); });
  for (double const bad : {none, endless, -1.0}) {
    auto given = r.learner.options();
    given.adam.weight_decay = bad;
    expect_sentence("a weight decay", [&] { learner const made(r.ex, r.learner.model(), given); }, "weight_decay is");
    given = r.learner.options();
    given.adam.epsilon = bad;
    expect_sentence("an epsilon", [&] { learner const made(r.ex, r.learner.model(), given); }, "epsilon is");
    expect_sentence(
        "a weight of further questions", [&] { r.loader.further_weight(bad); }, "weight of further questions");
  }
  CHECK(r.learner.step() == 0);
}

TEST_CASE("what averages stand in for is not trained, copied or overwritten, and a snapshot is of its model") {
  test::small_run<reference::backend> r;
  parameter_averages mean(r.ex, r.learner.parameters(), 0.9);
  mean.update();
  auto then = r.learner.snapshot();
  mean.in_use([&] {
    auto const part = "averages are in the place of the parameters";
    expect_sentence("restore", [&] { r.learner.restore(then); }, part);
    expect_sentence("snapshot", [&] { (void)r.learner.snapshot(); }, part);
    expect_sentence("initialize", [&] { initialize(r.learner.parameters(), 1); }, part);
  });
  then.tensors.front().shape.front() += 1;
  expect_sentence("a snapshot of another model", [&] { r.learner.restore(then); }, "it is of another model");
}

TEST_CASE("a search, a tree and an algebra hold what they were made for") {
  expect_sentence(
      "2^63 - 1 tokens", [] { beam_search const search(1, 4, {.longest = most_index}); },
      "longest is 9223372036854775807");
  expect_sentence(
      "more hypotheses than can be numbered", [] { beam_search const search(1, 4, {.beam = most_index}); },
      "hypotheses");
  expect_sentence(
      "two nodes at one place",
      [] {
        tree_loader<reference::backend, double> loader({tree_positions<>(2, 2), 1, 3, 1});
        loader.add(std::vector<placed>{{0, 1}, {0, 2}}, std::vector<placed>{{0, 1}});
      },
      "expected one node at a position");
  expect_sentence(
      "trees of two languages",
      [] {
        vocabulary words;
        words.insert("A");
        symbol_algebra const one(gather_algebra<double>({2, 2}, 4), words, 1),
            other(gather_algebra<double>({2, 2}, 4), words, 2);
        (void)(one.none() + other.none());
      },
      "two symbol algebras");
}

}  // namespace misuse_training_tests
