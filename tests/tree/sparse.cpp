// Tests sparse trees: coordinates are always sorted and without duplicates, deep trees are exact, and pruning reports
// what was dropped.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/sparse.hpp"

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"

namespace tree_sparse_tests {

using namespace triad;
using namespace triad::test;
using triad::test::contains;
using algebra = sparse_algebra<double>;

std::vector<double> unit(index_t width, index_t which) {
  std::vector<double> s(static_cast<std::size_t>(width));
  s[static_cast<std::size_t>(which)] = 1;
  return s;
}
vec<double const> read(std::vector<double> const& s) {
  return vec<double const>(s.data(), static_cast<index_t>(s.size()));
}

/// Returns a chain that turns left or right at random. Every node has a leaf, and its label is 1 + level % 3.
numbered_tree chain(random_stream& stream, index_t depth, std::vector<index_t>& turns) {
  numbered_tree::builder made;
  for (index_t level = 0; level < depth; ++level) {
    made.open(1 + level % 3, level == 0 ? 0 : turns.back());
    turns.push_back(static_cast<index_t>(stream.below(2)));
    if (turns.back() == 1 && level + 1 < depth) {
      made.open(3, 0);
      made.close();
    }
  }
  for (index_t level = 0; level < depth; ++level) made.close();
  return made.finish();
}

TEST_CASE("trees are exact to depth 63: taken apart by car and cdr, put together by cons, encoded and decoded") {
  for (index_t depth : {20, 30, 63, 64}) {
    algebra const a(2, depth, 3);
    std::vector<double> fillers(12);
    one_hot_fillers(make_matrix(fillers.data(), 4, 3, 3));
    tensor<double const, dyn, dyn> const table(fillers.data(), 4, 3);
    random_stream stream(static_cast<philox_key>(depth), 1);
    std::vector<index_t> turns;
    auto const tree = chain(stream, depth, turns);
    REQUIRE(tree.depth() == depth);
    tensor_tree<algebra> x(a);
    encode(a, table, tree, x.view());
    CHECK(static_cast<index_t>(x.view().coordinates.size()) == tree.size());
    CHECK(decode<algebra>(a, table, x.view()) == tree);

    std::vector<tensor_tree<algebra>> whole{x};
    for (index_t level = 0; level + 1 < depth; ++level) {
      whole.push_back(child(whole.back(), turns[static_cast<std::size_t>(level)]));
      REQUIRE(inner_product(root_of(whole.back()), root_of(whole.back())) == 1);
    }
    CHECK(whole.back().view().coordinates.size() == 1);
    auto rebuilt = whole.back();
    for (index_t level = depth - 2; level >= 0; --level) {
      auto const& at = whole[static_cast<std::size_t>(level)];
      rebuilt = turns[static_cast<std::size_t>(level)] == 0 ? cons(rebuilt, cdr(at), at) : cons(car(at), rebuilt, at);
    }
    CHECK(rebuilt.view() == x.view());
  }
}

TEST_CASE("coordinates of fillers without a width are refused") {
  for (index_t width : {0, -2})
    CHECK_THROWS_WITH(sparse_algebra<double>(2, 3, width),
                      test::contains("sparse_algebra: fillers is " + std::to_string(width)));
}

TEST_CASE("depth 0 means as deep as 64 bits allow, and deeper is refused") {
  CHECK(algebra(2, 0, 1).depth() == 64);
  CHECK(algebra(3, 0, 1).depth() == 32);
  CHECK_THROWS_WITH(algebra(2, 65, 1), contains("fits in 64 bits"));
}

TEST_CASE("sums coalesce: sorted, every coordinate once, what cancels is gone") {
  algebra const a(2, 10, 4);
  random_stream stream(5, 5);
  tensor_tree<algebra> x(a);
  for (int i = 0; i < 200; ++i) a.add_bound(1, 1 + stream.below(63), read(unit(4, stream.below(4))), x.view());
  auto const& all = x.view().coordinates;
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) REQUIRE(before(all[i - 1], all[i]));
    sum += all[i].weight;
  }
  CHECK(sum == 200);
  auto y = x;
  a.add(-1, x.view(), y.view());
  CHECK(y.view().coordinates.empty());
}

TEST_CASE("pruning keeps the heaviest and says how many went and how heavy they were") {
  algebra const a(2, 10, 1);
  tensor_tree<algebra> x(a);
  std::vector<double> const weights{3, -5, 0.5, 1, -0.25, 1};
  for (std::size_t i = 0; i < weights.size(); ++i) a.add_bound(weights[i], 10 + i, read(unit(1, 0)), x.view());
  auto y = x;
  auto const gone = a.prune(y.view(), 3);
  CHECK(gone.count == 3);
  CHECK(gone.largest == 1);
  CHECK(gone.square == 0.25 + 0.0625 + 1);
  auto difference = x;
  a.add(-1, y.view(), difference.view());
  CHECK(inner_product(difference, difference) == gone.square);
  // If two entries have the same magnitude, the earlier entry is kept.
  sparse_tree<double> const kept{{{10, 0, 3}, {11, 0, -5}, {13, 0, 1}}};
  CHECK(y.view() == kept);
  CHECK(a.prune(y.view(), 3).count == 0);
  CHECK(a.prune(y.view(), 0).count == 3);
}

}  // namespace tree_sparse_tests
