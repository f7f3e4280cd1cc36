// Tests shift matrices: the definition term by term, copies of blocks for canonical roles, and some random entries if
// there are many roles.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/shift.hpp"

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"
#include "triad/core/random.hpp"

namespace tree_shift_tests {

using namespace triad;
using triad::test::contains;
using triad::test::WithinAbs;

TEST_CASE(
    "a shift matrix is the sum over places in the child of the place's role times that of the same place in the "
    "whole") {
  for (index_t b : {2, 3})
    for (index_t d : {1, 2, 4}) {
      test::dense_form<double, 2, true> const form(b, d, 1);
      auto const roles = form.maps.roles;
      auto const shifts = form.maps.shifts;
      role_paths const paths(b);
      index_t const width = roles.extent(1), parents = form.positions.level_begin(d - 1);
      CAPTURE(b, d);
      for (index_t c = 0; c < b; ++c)
        for (index_t i = 0; i < width; ++i)
          for (index_t j = 0; j < width; ++j) {
            double sum = 0;
            for (index_t x = 0; x < parents; ++x)
              sum += roles(x, i) * roles(paths.position(paths.under(c, paths.at_position(x))), j);
            REQUIRE_THAT(shifts(c, i, j), WithinAbs(sum, 1e-13));
          }
    }
}

TEST_CASE("canonical roles have the shift matrices of their definition") {
  tree_positions<> const p(3, 3);
  test::canonical_form<double> const form(3, 3, 1);
  auto const plan = [&](arena& place) { return role_maps<double>::plan(place, p, p.count()); };
  buffer<host_memory> const memory(planned_bytes([&](arena& a) { (void)plan(a); }));
  auto place = memory.place();
  auto const own = plan(place);
  unit_rows(as_matrix(own.roles));
  make_given(p, own);
  for (index_t c = 0; c < 3; ++c)
    for (index_t i = 0; i < p.count(); ++i)
      for (index_t j = 0; j < p.count(); ++j) REQUIRE(own.shifts(c, i, j) == form.maps.shifts(c, i, j));
}

TEST_CASE("a child of a graft is the identity on roles above the last level and nothing else: D E is a projection") {
  test::random_form<double> const form(2, 3, 1);
  auto const& shifts = form.maps.shifts;
  auto const& roles = form.maps.roles;
  index_t const width = roles.extent(1);
  for (index_t c = 0; c < 2; ++c)
    for (index_t i = 0; i < width; ++i)
      for (index_t j = 0; j < width; ++j) {
        double product = 0, projection = 0;
        for (index_t k = 0; k < width; ++k) product += shifts(c, i, k) * shifts(c, j, k);
        for (index_t x = 0; x < 3; ++x) projection += roles(x, i) * roles(x, j);
        REQUIRE_THAT(product, WithinAbs(projection, 1e-13));
      }
}

TEST_CASE("shifts both ways are those of every child, then of each its transpose") {
  test::random_form<double> const form(3, 3, 1);
  auto const& shifts = form.maps.shifts;
  index_t const width = form.maps.roles.extent(1);
  std::vector<double> all(static_cast<std::size_t>(6 * width * width));
  tensor<double, dyn, dyn, dyn> const maps(all.data(), 6, width, width);
  make_shifts_both_ways(form.positions, read_only(form.maps.roles), maps);
  for (index_t c = 0; c < 3; ++c)
    for (index_t i = 0; i < width; ++i)
      for (index_t j = 0; j < width; ++j) {
        REQUIRE(maps(c, i, j) == shifts(c, i, j));
        REQUIRE(maps(3 + c, i, j) == shifts(c, j, i));
      }
}

TEST_CASE("shift matrices of 255 roles, which are made in tiles, are their definition at places that are drawn") {
  test::dense_form<double, 2, true> const form(2, 8, 1);
  auto const& roles = form.maps.roles;
  role_paths const paths(2);
  auto const width = static_cast<std::uint32_t>(roles.extent(1));
  random_stream stream(3, 0);
  for (int drawn = 0; drawn < 200; ++drawn) {
    auto const c = static_cast<index_t>(stream.below(2)), i = static_cast<index_t>(stream.below(width)),
               j = static_cast<index_t>(stream.below(width));
    double sum = 0;
    for (index_t x = 0; x < form.positions.level_begin(7); ++x)
      sum += roles(x, i) * roles(paths.position(paths.under(c, paths.at_position(x))), j);
    CAPTURE(c, i, j);
    REQUIRE_THAT(form.maps.shifts(c, i, j), WithinAbs(sum, 1e-13));
  }
}

TEST_CASE("your own roles that are not orthonormal are refused") {
  tree_positions<> const p(2, 2);
  std::vector<float> roles(9, 0.5F), shifts(18);
  role_maps<float> const maps{tensor<float, dyn, dyn>(roles.data(), 3, 3),
                              tensor<float, dyn, dyn, dyn>(shifts.data(), 2, 3, 3)};
  CHECK_THROWS_WITH(make_given(p, maps), contains("rows 0 and 0 have inner product 0.75; expected 1"));
}

}  // namespace tree_shift_tests
