// Tests the conversion of trees of labels to tensors and back, with an algebra that has a vocabulary of labels.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/symbol_algebra.hpp"

#include "tests/catch.hpp"
#include "triad/tree/gather.hpp"
#include "triad/tree/s_expression.hpp"
#include "triad/tree/sparse.hpp"

namespace tree_symbol_algebra_tests {

using namespace triad;

vocabulary words_of(symbol_tree const& tree) {
  vocabulary words;
  words.insert(tree);
  return words;
}

TEST_CASE("what is encoded is decoded, whole, in parts, and put together anew") {
  auto const sentence = parse_tree("( S ( NP the fox ) ( VP sleeps ) )");
  auto const words = words_of(sentence);
  auto const expect = [&](auto const& language) {
    auto const x = language.encode(sentence);
    CHECK(language.decode(x) == sentence);
    CHECK(to_text(language.decode(car(x))) == "( NP the fox )");
    CHECK(to_text(language.decode(cons(cdr(x), car(x), x))) == "( S ( VP sleeps ) ( NP the fox ) )");
    CHECK(language.decode(language.none()).empty());
    CHECK(language.decode(x - x).empty());
    CHECK(language.words().size() == 7);
    CHECK_THROWS_WITH(language.encode(parse_tree("( S dog )")), test::contains("'dog'"));
    CHECK_THROWS_WITH(language.encode(parse_tree("( S ( S ( S ( S fox ) ) ) )")), test::contains("deeper than the"));
  };
  expect(symbol_algebra(gather_algebra<double>({2, 3}, words.size()), words));
  expect(symbol_algebra(gather_algebra<float>({2, 3}, 10), vocabulary(words), 5));
  expect(symbol_algebra(sparse_algebra<double>(2, 3, words.size()), words));
}

TEST_CASE("fillers are unit vectors, or drawn by a seed") {
  auto const words = words_of(parse_tree("( A B )"));
  symbol_algebra const unit(gather_algebra<double>({2, 2}, 3), words),
      drawn(gather_algebra<double>({2, 2}, 3), words, 1), other(gather_algebra<double>({2, 2}, 3), words, 2);
  CHECK((unit.fillers()(1, 0) == 1 && unit.fillers()(2, 0) == 0 && unit.fillers()(0, 0) == 0));
  CHECK(drawn.fillers()(1, 1) != other.fillers()(1, 1));
  CHECK_THROWS_WITH(symbol_algebra(gather_algebra<double>({2, 2}, 1), words),
                    test::contains("fillers of width 1, expected 2 or more"));
  CHECK_THROWS_WITH(symbol_algebra(gather_algebra<double>({2, 2}, 1), words, 1),
                    test::contains("2 orthonormal labels of width 1"));
}

TEST_CASE("trees of other fillers or labels are neither mixed nor decoded, those of the same seed are") {
  auto const tree = parse_tree("( A B )");
  auto const words = words_of(tree);
  using language = symbol_algebra<gather_algebra<double>>;
  language const drawn({{2, 2}, 3}, words, 1), again({{2, 2}, 3}, words, 1), other({{2, 2}, 3}, words, 2),
      renamed({{2, 2}, 3}, words_of(parse_tree("( A C )")), 1);
  auto const x = drawn.encode(tree);
  for (auto const* wrong : {&other, &renamed}) {
    auto const y = 0.5 * wrong->none();
    CHECK_THROWS_WITH(x + y, test::contains("trees of two symbol algebras"));
    CHECK_THROWS_WITH(car(y) - car(x), test::contains("of two symbol algebras"));
    CHECK_THROWS_WITH(cons(x, x, root_of(y)), test::contains("of two symbol algebras"));
    CHECK_THROWS_WITH(inner_product(x, y), test::contains("of two symbol algebras"));
    CHECK_THROWS_WITH(blend({1, 1}, {x, y}), test::contains("of two symbol algebras"));
    CHECK_THROWS_WITH(wrong->decode(x), test::contains("a tree of another symbol algebra"));
  }
  CHECK(again.decode(0.5 * x + 0.5 * again.encode(tree)) == tree);
  tensor_tree const plain(drawn.algebra());
  CHECK(drawn.decode(x + plain) == tree);
}

static_assert(!std::is_copy_constructible_v<symbol_algebra<gather_algebra<double>>>);  // its trees have pointers to it

}  // namespace tree_symbol_algebra_tests
