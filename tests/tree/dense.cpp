// Tests the dense form: trees are matrices, and car, cdr and cons are products with the maps. algebra.cpp tests the
// laws.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/dense.hpp"

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"

namespace tree_dense_tests {

using namespace triad;
using test::contains;
using test::WithinAbs;

TEST_CASE("with unit vectors for roles, a tree's columns are its positions") {
  test::canonical_form<double> const form(2, 2, 2);
  auto const& a = form.algebra;
  CHECK((a.width() == 3 && a.elements() == 6 && a.fillers() == 2 && a.branching() == 2 && a.depth() == 2));
  std::vector<double> numbers{1, 2, 3, 4, 5, 6}, to(6, 9), s{10, 20};
  auto const x = a.over(numbers.data()), y = a.over(to.data());  // root (1, 4), left (2, 5), right (3, 6)
  a.clear(y);
  CHECK(to == std::vector<double>(6));
  a.add_child(1, 1, x, y);
  CHECK(to == std::vector<double>{3, 0, 0, 6, 0, 0});
  a.add_graft(2, 0, x, y);
  CHECK(to == std::vector<double>{3, 2, 0, 6, 8, 0});
  a.add_bound(1, a.paths().under(1, root_role), vec<double const>(s.data(), 2), y);
  CHECK(to == std::vector<double>{3, 2, 10, 6, 8, 20});
  a.add_unbound(3, root_role, x, vec<double>(s.data(), 2));
  CHECK(s == std::vector<double>{13, 32});
  CHECK(a.inner_product(x, y) == 3 + 4 + 30 + 24 + 40 + 120);
}

TEST_CASE("with any orthonormal roles, a child is the tree times D', row by row") {
  test::random_form<double> const form(3, 2, 2);
  auto const& a = form.algebra;
  index_t const width = a.width();
  CHECK(width == 4 + 3);
  random_stream stream(3, 3);
  auto numbers = test::random_values<double>(stream, a.elements());
  std::vector<double> child(numbers.size()), graft(numbers.size());
  auto const x = a.over(numbers.data());
  a.add_child(0.5, 2, x, a.over(child.data()));
  a.add_graft(0.5, 2, x, a.over(graft.data()));
  for (index_t f = 0; f < 2; ++f)
    for (index_t i = 0; i < width; ++i) {
      double down = 0, up = 0;
      for (index_t j = 0; j < width; ++j) {
        down += 0.5 * form.maps.shifts(2, i, j) * x(f, j);
        up += 0.5 * form.maps.shifts(2, j, i) * x(f, j);
      }
      CHECK_THAT(a.over(child.data())(f, i), WithinAbs(down, 1e-14));
      CHECK_THAT(a.over(graft.data())(f, i), WithinAbs(up, 1e-14));
    }
}

TEST_CASE("maps, trees, fillers, children and roles of another shape are refused") {
  test::canonical_form<double> const form(2, 2, 2);
  auto const& a = form.algebra;
  CHECK_THROWS_WITH((dense_algebra<double>(tree_positions<>(2, 3), 2, form.maps)),
                    contains("dense_algebra: roles is ("));
  std::vector<double> numbers(8);
  tensor<double, dyn, dyn> const wide(numbers.data(), 2, 4);
  CHECK_THROWS_WITH(a.clear(wide), contains("dense_algebra: a tree is (2, 4), expected (2, "));
  auto const x = a.over(numbers.data());
  CHECK_THROWS_WITH(a.add_child(1, 2, x, x), contains("dense_algebra: child 2, expected 0 to 1"));
  CHECK_THROWS_AS(a.add_graft(1, -1, x, x), contract_violation);
  vec<double> const s(numbers.data(), 2), other(numbers.data(), 3);
  CHECK_THROWS_WITH(a.add_bound(1, root_role, other, x), contains("dense_algebra: 3 numbers of a filler, expected 2"));
  auto const below = a.paths().under(0, a.paths().under(0, root_role));
  for (auto role : {below, no_role})
    CHECK_THROWS_WITH(a.add_unbound(1, role, x, s),
                      contains(role == no_role ? "dense_algebra: no role, expected level 0 to 1"
                                               : "a role at level 2, expected level 0 to 1"));
}

}  // namespace tree_dense_tests
