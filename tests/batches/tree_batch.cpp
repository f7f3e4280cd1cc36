// Tests batches of trees: which trees each step reads, how a step chooses, and the key of a recorded step.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/tree_batch.hpp"

#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"

namespace batches_tree_batch_tests {

using namespace triad;

// Noise for two steps on two trees, in which a node has up to two children.
struct noisy_trees {
  std::vector<double> operations = std::vector<double>(2 * 2 * 3), arguments = std::vector<double>(2 * 2 * 8);
  tree_batch<double> batch() const {
    auto in = tree_batch<double>::measured(2, 7, 2, {});
    in.operation_temperature = 0.7;
    in.argument_temperature = 1.6;
    in.over = choice_over::arguments;
    in.operation_noise = tensor<double const, dyn, dyn, dyn>(operations.data(), 2, 2, 3);
    in.argument_noise = tensor<double const, dyn, dyn, dyn>(arguments.data(), 2, 2, 8);
    return in;
  }
};

TEST_CASE("step k has k + 3 tokens of each tree, whose places are its own part of the lists") {
  std::vector<index_t> const size{3, 3, 4, 4}, first{0, 3, 0, 4};
  auto in = tree_batch<double>::measured(2, 7, 2, {});
  CHECK(in.tokens(1).size.data_handle() == nullptr);
  in.size = make_vec(size.data(), 4);
  in.first = make_vec(first.data(), 4);
  for (index_t k : {0, 1}) {
    auto const tokens = in.tokens(k);
    CHECK((tokens.count == 2 && tokens.longest == k + 3 && tokens.rows == 2 * (k + 3)));
    for (index_t b : {0, 1}) {
      CHECK(tokens.size(b) == k + 3);
      CHECK(tokens.begin(b) == b * (k + 3));
    }
  }
}

TEST_CASE("where there is an empty tree, each step has one more token and one more choice, and noise for it") {
  auto in = tree_batch<double>::measured(2, 7, 2, {}, true);
  CHECK((in.tokens_at(0) == 4 && in.choices_at(1) == 3));
  CHECK(in.tokens(1).longest == 5);
  std::vector<double> const noise(2 * 2 * 12);
  in.argument_noise = tensor<double const, dyn, dyn, dyn>(noise.data(), 2, 2, 12);
  CHECK(in.choice(0).argument_noise.extent(1) == 8);
  CHECK(in.choice(1).argument_noise.extent(1) == 12);
  auto const without = tree_batch<double>::measured(2, 7, 2, {});
  CHECK(test::replay_number(without) != test::replay_number(tree_batch<double>::measured(2, 7, 2, {}, true)));
}

TEST_CASE("without bounds any position may be held; with them, those of the slot") {
  auto in = tree_batch<double>::measured(2, 7, 2, {});
  CHECK((in.bound(0) == 7 && in.bound(2) == 7));
  index_t const bounds[] = {3, 1, 5};
  in.bounds = bounds;
  CHECK((in.bound(0) == 3 && in.bound(1) == 1 && in.bound(2) == 5));
  auto narrower = in;
  index_t const others[] = {3, 1, 6}, first_other[] = {4, 1, 5};
  narrower.bounds = others;
  CHECK(test::replay_number(narrower) == test::replay_number(in));  // no step reads the last slot
  narrower.bounds = first_other;
  CHECK(test::replay_number(narrower) != test::replay_number(in));
}

TEST_CASE("operations and arguments each have noise or none, and a temperature; noise for too few steps is refused") {
  noisy_trees const trees;
  auto const in = trees.batch();
  CHECK(in.choice(1).argument_noise.extent(1) == 8);
  CHECK(in.choice(0).argument_noise.extent(1) == 4);
  CHECK(in.choice(1).operation_noise.data_handle() == in.operation_noise.data_handle() + 2 * 3);
  CHECK(in.choice(1).operation_temperature == 0.7);
  CHECK(in.choice(1).argument_temperature == 1.6);
  for (bool of_operations : {true, false}) {
    auto one = in;
    (of_operations ? one.operation_noise : one.argument_noise) = {};
    auto const now = one.choice(1);
    CHECK(now.over == choice_over::arguments);
    CHECK((now.operation_noise.extent(0) == 0) == of_operations);
    CHECK((now.argument_noise.extent(0) == 0) != of_operations);
    CHECK_THROWS_WITH(one.choice(2), test::contains("noise of 2 steps, expected 3 or more"));
  }
}

TEST_CASE("recorded work is for one way to choose: noise, temperatures and the axis tell batches apart") {
  noisy_trees const trees;
  auto const in = trees.batch();
  CHECK(test::replay_number(in) == test::replay_number(trees.batch()));
  auto const differs = [&](auto const& change) {
    auto other = in;
    change(other);
    CHECK(test::replay_number(other) != test::replay_number(in));
  };
  differs([](auto& b) { b.operation_noise = {}; });
  differs([](auto& b) { b.argument_noise = {}; });
  differs([](auto& b) { b.operation_temperature = 0.9; });
  differs([](auto& b) { b.argument_temperature = 0.9; });
  differs([](auto& b) { std::swap(b.operation_temperature, b.argument_temperature); });
  differs([](auto& b) { b.over = choice_over::trees; });
  differs([](auto& b) { b.recency = 0.1; });
}

}  // namespace batches_tree_batch_tests
