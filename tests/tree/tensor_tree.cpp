// Tests trees that own their numbers. An expression makes a new tree, and does not change its operands.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/tensor_tree.hpp"

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"
#include "triad/tree/gather.hpp"
#include "triad/tree/sparse.hpp"

namespace tree_tensor_tree_tests {

using namespace triad;

// Returns a tree of depth 3 with one number at each position, in breadth-first order.
template <class A>
tensor_tree<A> numbered(A const& a, std::vector<double> const& at) {
  tensor_tree<A> x(a);
  for (std::size_t r = 0; r < at.size(); ++r)
    a.add_bound(1, a.paths().at_position(static_cast<index_t>(r)), vec<double const>(&at[r], 1), x.view());
  return x;
}

TEMPLATE_TEST_CASE("expressions of trees are those of their numbers", "", test::gather_form<double>,
                   test::canonical_form<double>, test::sparse_form<double>) {
  TestType const form(2, 3, 1);
  auto const& a = form.algebra;
  using numbers = std::vector<double>;
  auto const x = numbered(a, {1, 2, 3, 4, 5, 6, 7});
  CHECK(test::fillings_of(car(x)) == numbers{2, 4, 5, 0, 0, 0, 0});
  CHECK(test::fillings_of(cdr(x)) == numbers{3, 6, 7, 0, 0, 0, 0});
  CHECK(test::fillings_of(child(x, 1)) == numbers{3, 6, 7, 0, 0, 0, 0});
  CHECK(test::fillings_of(root_of(x)) == numbers{1, 0, 0, 0, 0, 0, 0});
  CHECK(test::fillings_of(cons(cdr(x), car(x), x)) == numbers{1, 3, 2, 6, 7, 4, 5});
  CHECK(test::fillings_of(x + car(x)) == numbers{3, 6, 8, 4, 5, 6, 7});
  CHECK(inner_product(x, car(x)) == 1 * 2 + 2 * 4 + 3 * 5);
  CHECK(test::fillings_of(x) == numbers{1, 2, 3, 4, 5, 6, 7});
  CHECK(test::fillings_of(tensor_tree(a)) == numbers(7));
  CHECK(&car(x).algebra() == &a);
}

TEMPLATE_TEST_CASE("a weighted sum of trees is that of their numbers", "", test::gather_form<double>,
                   test::canonical_form<double>, test::sparse_form<double>) {
  TestType const form(2, 3, 1);
  auto const& a = form.algebra;
  using numbers = std::vector<double>;
  auto const x = numbered(a, {1, 2, 3, 4, 5, 6, 7}), y = numbered(a, {0, 8, 0, 0, 0, 4, -2});
  CHECK(test::fillings_of(0.5 * x) == numbers{0.5, 1, 1.5, 2, 2.5, 3, 3.5});
  CHECK(test::fillings_of(0 * x) == numbers(7));
  CHECK(test::fillings_of(x - y) == numbers{1, -6, 3, 4, 5, 2, 9});
  CHECK(test::fillings_of(blend({0.5, 2}, {x, y})) == test::fillings_of(0.5 * x + 2 * y));
  std::vector const trees{x, y, car(x)};
  std::vector<double> const w{1, -1, 0.25};
  CHECK(test::fillings_of(blend(w, trees)) == test::fillings_of(x - y + 0.25 * car(x)));
  CHECK(test::fillings_of(x) == numbers{1, 2, 3, 4, 5, 6, 7});
  CHECK_THROWS_WITH(blend({0.5}, trees), test::contains("1 weights of 3 trees"));
  CHECK_THROWS_WITH(blend({}, std::vector<tensor_tree<typename TestType::algebra_type>>{}), test::contains("0 trees"));
}

TEST_CASE("a tree of labels is encoded and decoded as a value") {
  test::gather_form<double> const form(2, 3, 3);
  double const table[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};  // label 0 means that there is no label
  tensor<double const, dyn, dyn> const fillers(table, 3, 3);
  numbered_tree const tree(1, {numbered_tree(2), numbered_tree(1, {numbered_tree(2)})});
  auto const x = encode(form.algebra, fillers, tree);
  CHECK(decode(fillers, x) == tree);
  CHECK(decode(fillers, car(x)) == numbered_tree(2));
  CHECK(decode(fillers, 0.001 * x).empty());
  CHECK(decode(fillers, 0.001 * x, 1e-4) == tree);
}

TEST_CASE("trees of algebras of another depth or width are not mixed") {
  test::gather_form<double> const form(2, 3, 1), deeper(2, 4, 1), wider(2, 3, 2), twin(2, 3, 1);
  auto const x = numbered(form.algebra, {1, 2});
  for (auto const* other : {&deeper, &wider}) {
    tensor_tree<gather_algebra<double>> const y(other->algebra);
    CHECK_THROWS_WITH(x + y, test::contains("of two algebras"));
    CHECK_THROWS_WITH(y - x, test::contains("of two algebras"));
    CHECK_THROWS_WITH(cons(x, y, x), test::contains("of two algebras"));
    CHECK_THROWS_WITH(inner_product(x, y), test::contains("of two algebras"));
    CHECK_THROWS_WITH(blend({1, 1}, {x, y}), test::contains("of two algebras"));
  }
  tensor_tree<gather_algebra<double>> const same(twin.algebra);
  CHECK(test::fillings_of(x + same) == test::fillings_of(x));
}

TEST_CASE("trees of algebras that are alike in all but branching or depth are not mixed") {
  auto const refused = [](auto const& a, auto const& b) {
    using algebra = std::decay_t<decltype(a)>;
    tensor_tree<algebra> const x(a), y(b);
    CHECK_THROWS_WITH(x + y, test::contains("of two algebras"));
  };
  using sparse = sparse_algebra<double>;
  refused(sparse(2, 4, 1), sparse(2, 60, 1));
  refused(sparse(2, 4, 1), sparse(3, 4, 1));
  using gather = gather_algebra<double>;
  gather const many_levels({2, 5}, 1), wide({5, 3}, 1);
  REQUIRE(many_levels.elements() == wide.elements());
  refused(many_levels, wide);
}

TEST_CASE("a copy of a tree has numbers of its own") {
  test::gather_form<double> const form(2, 3, 1);
  auto const x = numbered(form.algebra, {1, 2});
  auto y = x;
  form.algebra.clear(y.view());
  CHECK(test::fillings_of(x)[1] == 2);
  CHECK(test::fillings_of(y)[1] == 0);
}

static_assert(!std::is_convertible_v<gather_algebra<double>&, tensor_tree<gather_algebra<double>>>);  // only explicitly

}  // namespace tree_tensor_tree_tests
