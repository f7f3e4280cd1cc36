// Tests batches of trees: the upload, refused input, and the positions that each step can reach.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/tree_loader.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/machine_use.hpp"

namespace batches_tree_loader_tests {

using namespace triad;
using test::tree_nodes;

std::vector<index_t> list(vec<index_t const> v) { return {v.data_handle(), v.data_handle() + v.size()}; }

TEST_CASE("a batch has its trees position by position, and what each step needs of every sample") {
  tree_loader<reference::backend, double> loader({tree_positions<>(2, 3), 2, 5, 3});
  loader.add(tree_nodes{{0, 4}, {2, 1}, {5, 3}}, tree_nodes{{0, 1}});
  loader.add(tree_nodes{{0, 2}}, tree_nodes{});
  CHECK((loader.batch() == 2 && loader.dims().batch == 2));
  CHECK(loader.has_room());
  auto const both = loader.upload();  // fewer trees than the capacity allows
  auto const& in = both.first;
  CHECK(in.sizes.batch == 2);
  CHECK(in.positions == 7);
  CHECK(list(in.symbols) == std::vector<index_t>{4, 0, 1, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0});
  CHECK(list(both.second.symbols) == std::vector<index_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(list(in.sample) == std::vector<index_t>{0, 1});
  CHECK(list(in.zero) == std::vector<index_t>{0, 0});
  CHECK(list(in.size) == std::vector<index_t>{3, 3, 4, 4});
  CHECK(list(in.first) == std::vector<index_t>{0, 3, 0, 4});
  CHECK(list(in.tokens(1).size) == std::vector<index_t>{4, 4});
  CHECK(in.tokens(1).rows == 8);
  REQUIRE(in.fillers.extent(0) == 5);
  for (index_t v = 0; v < 5; ++v)
    for (index_t f = 0; f < 5; ++f) CHECK(in.fillers(v, f) == (v == f && v > 0 ? 1 : 0));
}

TEST_CASE("a batch for a machine with an empty tree has a token more at every step") {
  tree_loader<reference::backend, double> loader({tree_positions<>(2, 3), 2, 5, 3, true});
  loader.add(tree_nodes{{0, 4}}, tree_nodes{{0, 1}});
  loader.add(tree_nodes{{0, 2}}, tree_nodes{});
  auto const in = loader.upload().first;
  CHECK(in.empty_tree);
  CHECK(list(in.size) == std::vector<index_t>{4, 4, 5, 5});
  CHECK(list(in.first) == std::vector<index_t>{0, 4, 0, 5});
}

TEST_CASE("a loader that was cleared knows nothing of the batch before") {
  tree_positions<> const where(2, 4);
  auto const filled = [&](auto& loader) {
    loader.add(tree_nodes{{0, 2}, {1, 1}}, tree_nodes{{0, 1}});
    auto const both = loader.upload();
    std::vector<std::vector<index_t>> all{list(both.first.symbols), list(both.second.symbols), list(both.first.size),
                                          list(both.first.first), list(both.first.support.since)};
    auto const first = both.first.support.first;
    all.emplace_back(first.data_handle(), first.data_handle() + first.size());
    all.emplace_back(both.first.bounds, both.first.bounds + 3);
    return all;
  };
  tree_loader<reference::backend, double> used({where, 2, 3, 2}), fresh({where, 2, 3, 2});
  used.add(tree_nodes{{0, 1}, {14, 2}}, tree_nodes{{14, 2}});
  used.add(tree_nodes{{0, 1}, {2, 1}}, tree_nodes{{0, 2}});
  used.upload();
  CHECK_FALSE(used.has_room());
  used.clear();
  CHECK(used.batch() == 0);
  CHECK(filled(used) == filled(fresh));
}

TEST_CASE("a node below the roles, a symbol that is none and one tree too many are refused, and change nothing") {
  tree_loader<reference::backend, double> loader({tree_positions<>(2, 2), 1, 3, 1});
  tree_nodes const good{{0, 1}};
  for (auto const& [bad, why] : std::initializer_list<std::pair<tree_nodes, char const*>>{
           {{{0, 1}, {3, 1}}, "a node at position 3, expected 0 to 2"},
           {{{-1, 1}}, "a node at position -1, expected 0 to 2"},
           {{{0, 0}}, "symbol 0, expected 1 to 2"},
           {{{0, 3}}, "symbol 3, expected 1 to 2"}}) {
    CHECK_THROWS_WITH(loader.add(bad, good), test::contains(why));
    CHECK_THROWS_WITH(loader.add(good, bad), test::contains(why));
  }
  tree_nodes const twice{{0, 1}, {2, 1}, {2, 2}};
  CHECK_THROWS_WITH(loader.add(twice, good), test::contains("position 2 of a tree has symbols 1 and 2"));
  CHECK_THROWS_WITH(loader.add(good, twice), test::contains("expected one node at a position"));
  CHECK(loader.batch() == 0);
  loader.add(good, tree_nodes{{2, 2}});
  auto const both = loader.upload();
  CHECK(list(both.first.symbols) == std::vector<index_t>{1, 0, 0});
  CHECK(list(both.second.symbols) == std::vector<index_t>{0, 0, 2});
  CHECK_THROWS_WITH(loader.add(good, good), test::contains("tree_loader: one more tree does not fit: the batch has"));
}

// Host memory of another type. The library treats it like a device's memory.
struct other_memory : host_memory {};
struct other_backend : reference::backend {
  using memory = other_memory;
};

TEST_CASE("a device gets no bounds, which change with every batch") {
  tree_loader<other_backend, float> loader({tree_positions<>(2, 3), 2, 5, 2});
  loader.add(tree_nodes{{0, 1}}, tree_nodes{{0, 1}});
  auto const in = loader.upload().first;
  CHECK(in.support.empty());
  CHECK(in.bounds == nullptr);
  CHECK(in.bound(1) == 7);
}

TEST_CASE("what steps can reach is a bound, and a tight one where all weights are positive") {
  reference::backend ex;
  struct shape {
    index_t branching, depth, steps, levels;
  };
  for (auto const& z : {shape{2, 5, 4, 2}, shape{2, 6, 3, 3}, shape{3, 4, 3, 1}, shape{4, 3, 2, 3}, shape{2, 1, 2, 1},
                        shape{2, 2, 3, 2}}) {
    CAPTURE(z.branching, z.depth, z.steps, z.levels);
    test::some_trees<double> trees(z.branching, z.depth, 3, z.steps, 5, 3, z.levels);
    // A tree with only one deep node. No random tree of this test is like this.
    index_t deep = 0;
    for (index_t k = 1; k < z.depth; ++k) deep = trees.where.child(deep, k % z.branching);
    trees.pairs[2].first = {{deep, 1}};
    using model = tree_machine<double>;
    test::machine_use<model> use(
        model(tree_interpreter<double>(trees.where), trees.where.count(), trees.sizes({6, 2, 8}, 1)));
    auto const both = trees.all();
    auto const support = both.first.support;
    auto in = both.first;
    in.support = {};
    in.bounds = nullptr;
    auto const found = use.run(ex, in, both.second, false);
    index_t const count = trees.where.count(), f = trees.fillers;
    auto at = found.memory.begin();
    for (index_t k = 0; k <= z.steps; ++k) {
      std::vector<bool> held(static_cast<std::size_t>(count));
      for (index_t b = 0; b < 3; ++b)
        for (index_t q = 0; q < count; ++q, at += f)
          if (std::any_of(at, at + f, [](double v) { return v != 0; })) held[static_cast<std::size_t>(q)] = true;
      index_t end = 0;
      for (index_t q = 0; q < count; ++q) {
        CAPTURE(k, q);
        CHECK(held[static_cast<std::size_t>(q)] == support.has(k, q));
        if (support.has(k, q)) end = q + 1;
      }
      CHECK(both.first.bounds[k] == end);
    }
  }
}

}  // namespace batches_tree_loader_tests
