// Tests trees as values: their parts, how they are built, and equality.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/symbol_tree.hpp"

#include "tests/catch.hpp"

namespace tree_symbol_tree_tests {

using namespace triad;
using triad::test::contains;

symbol_tree leaf(char const* label) { return symbol_tree(label); }

TEST_CASE("a tree knows its parts by node number and number of child") {
  symbol_tree const t("A", {leaf("B"), symbol_tree("C", {leaf("D")})});
  REQUIRE(t.size() == 4);
  CHECK(t.depth() == 3);
  CHECK(t.branching() == 2);
  CHECK(t.label() == "A");
  CHECK((t.child(0, 0) == 1 && t.child(0, 1) == 2 && t.child(2, 0) == 3));
  CHECK((t.child(1, 0) == no_node && t.child(2, 1) == no_node && t.child(0, 7) == no_node));
  CHECK((t.is_leaf(1) && !t.is_leaf(2)));
  CHECK(t.subtree(2) == symbol_tree("C", {leaf("D")}));
  CHECK(t.subtree(t.child(0, 5)) == symbol_tree());
}

TEST_CASE("the empty tree has no node and depth 0; a root alone has depth 1") {
  CHECK((symbol_tree().empty() && symbol_tree().size() == 0 && symbol_tree().depth() == 0 &&
         symbol_tree().branching() == 0));
  CHECK((leaf("A").depth() == 1 && leaf("A").branching() == 0));
}

TEST_CASE("taking a tree apart and putting it together gives the tree") {
  for (auto const& t : {symbol_tree("A", {leaf("B"), leaf("C")}), symbol_tree("A", {symbol_tree(), leaf("C")}),
                        leaf("A"), symbol_tree("A", {symbol_tree("B", {leaf("C"), leaf("D")})})}) {
    CHECK(symbol_tree(t.label(), {t.subtree(t.child(0, 0)), t.subtree(t.child(0, 1))}) == t);
  }
}

TEST_CASE("trees that differ in one label or one number of a child are not equal") {
  CHECK(symbol_tree("A", {leaf("B")}) != symbol_tree("A", {leaf("C")}));
  CHECK(symbol_tree("A", {leaf("B")}) != symbol_tree("A", {symbol_tree(), leaf("B")}));
  CHECK(symbol_tree("A", {symbol_tree("B", {leaf("C")})}) != symbol_tree("A", {leaf("B"), leaf("C")}));
}

TEST_CASE("a walk visits parents before children and left before right, and knows the level") {
  symbol_tree const t("A", {symbol_tree("B", {leaf("C"), leaf("D")}), leaf("E")});
  std::string seen;
  std::vector<index_t> parents, levels;
  t.walk([&](index_t at, index_t parent, index_t level) {
    seen += t.label(at);
    parents.push_back(parent);
    levels.push_back(level);
  });
  CHECK(seen == "ABCDE");
  CHECK(parents == std::vector<index_t>{no_node, 0, 1, 1, 0});
  CHECK(levels == std::vector<index_t>{0, 1, 2, 2, 1});
}

TEST_CASE("a builder makes the tree that its calls nest, missing children where it is told") {
  symbol_tree::builder b;
  b.open("A");
  b.open("B", 1);
  CHECK((b.level() == 2 && b.label() == "B"));
  b.close();
  b.close();
  CHECK(b.finish() == symbol_tree("A", {symbol_tree(), leaf("B")}));
  CHECK(b.finish() == symbol_tree());
}

TEST_CASE("a builder used wrongly says how") {
  symbol_tree::builder b;
  CHECK_THROWS_WITH(b.close(), contains("no node open"));
  CHECK_THROWS_WITH(b.open("A", 1), contains("tree: child 1, expected 0, the root"));
  b.open("A");
  CHECK_THROWS_WITH(b.finish(), contains("nodes open, expected none"));
  b.open("B", 1);
  b.close();
  CHECK_THROWS_WITH(b.open("C", 1), contains("children are opened in order"));
  b.close();
  CHECK_THROWS_WITH(b.open("D"), contains("one root"));
}

TEST_CASE("a deep tree takes no deep stack") {
  symbol_tree::builder b;
  index_t const depth = 200'000;
  for (index_t i = 0; i < depth; ++i) b.open("x");
  for (index_t i = 0; i < depth; ++i) b.close();
  auto const t = b.finish();
  CHECK(t.depth() == depth);
  CHECK(t[depth - 1].size == 1);
}

TEST_CASE("mapping labels keeps the shape") {
  symbol_tree const t("A", {symbol_tree(), leaf("Bcd")});
  auto const lengths = t.mapped([](std::string const& s) { return static_cast<index_t>(s.size()); });
  CHECK(lengths == numbered_tree(1, {numbered_tree(), numbered_tree(3)}));
}

}  // namespace tree_symbol_tree_tests
