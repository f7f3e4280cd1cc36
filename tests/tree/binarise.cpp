// Tests trees that are made binary. They must equal those of nltk's chomsky_normal_form, and the original trees can be
// rebuilt.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/binarise.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/random.hpp"
#include "triad/tree/s_expression.hpp"

namespace tree_binarise_tests {

using namespace triad;

std::string binary(char const* text) { return to_text(binarise(parse_treebank_tree(text))); }

TEST_CASE("nodes of three children and more get further nodes, with the labels that nltk gives them") {
  // The expected trees are Tree.fromstring(text).chomsky_normal_form() of nltk 3.10, in our notation.
  CHECK(binary("(S (A b) (C d) (E f) (G h))") == "( S ( A b ) ( S|<C-E-G> ( C d ) ( S|<E-G> ( E f ) ( G h ) ) ) )");
  CHECK(binary("(S a b c d)") == "( S a ( S|<b-c-d> b ( S|<c-d> c d ) ) )");
  CHECK(binary("(S (NP (D the) (J old) (N man)) (V (X a) (Y b) (Z c)) (P ran) (Q (R x)))") ==
        "( S ( NP ( D the ) ( NP|<J-N> ( J old ) ( N man ) ) ) ( S|<V-P-Q> "
        "( V ( X a ) ( V|<Y-Z> ( Y b ) ( Z c ) ) ) ( S|<P-Q> ( P ran ) ( Q ( R x ) ) ) ) )");
}

TEST_CASE("nodes of two children and fewer stay as they are") {
  for (char const* text : {"( A )", "( A b )", "( A b c )", "( A ( B ( C d ) ) ( E f ( G h i ) ) )"})
    CHECK(binary(text) == text);
  CHECK(binarise(symbol_tree()).empty());
}

symbol_tree random_tree(random_stream& stream, index_t depth) {
  std::vector<symbol_tree> children;
  if (depth > 1)
    for (auto count = stream.below(7); count > 0; --count) children.push_back(random_tree(stream, depth - 1));
  return symbol_tree(std::string(1, static_cast<char>('a' + stream.below(5))), children);
}

/// Rebuilds the original tree, without the additional nodes.
void rebuild(symbol_tree const& tree, index_t at, symbol_tree::builder& made) {
  bool const further = tree.label(at).find('|') != std::string::npos;
  if (!further) made.open(tree.label(at));
  for (auto c = tree.first_child(at); c != no_node; c = tree.next_child(at, c)) rebuild(tree, c, made);
  if (!further) made.close();
}

TEST_CASE("the tree comes back where the further nodes are dissolved") {
  random_stream stream(3, 4);
  for (int trial = 0; trial < 200; ++trial) {
    auto const tree = random_tree(stream, 1 + trial % 5);
    CAPTURE(to_text(tree));
    auto const two = binarise(tree);
    CHECK(two.branching() <= 2);
    CHECK(parse_tree(to_text(two)) == two);
    CHECK(binarise(two) == two);
    symbol_tree::builder made;
    rebuild(two, 0, made);
    CHECK(made.finish() == tree);
  }
}

TEST_CASE("a long chain takes no deep stack, and a missing child is a misuse") {
  symbol_tree::builder chain;
  for (int i = 0; i < 100'000; ++i) chain.open("x");
  for (int i = 0; i < 100'000; ++i) chain.close();
  auto const tree = chain.finish();
  CHECK(binarise(tree) == tree);
  CHECK_THROWS_AS(binarise(symbol_tree("A", {symbol_tree(), symbol_tree("B")})), contract_violation);
}

}  // namespace tree_binarise_tests
