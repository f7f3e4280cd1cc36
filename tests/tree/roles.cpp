// Tests roles: they are orthonormal for any shape, the same for the same seed, and uniformly distributed. Roles from
// the caller that are not orthonormal are refused.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/roles.hpp"

#include "tests/catch.hpp"

namespace tree_roles_tests {

using namespace triad;
using triad::test::contains;
using triad::test::WithinAbs;

template <class T>
struct rows {
  index_t n, width;
  std::vector<T> values = std::vector<T>(static_cast<std::size_t>(n * width));
  matrix<T> view() { return make_matrix(values.data(), n, width, width); }
  tensor<T const, dyn, dyn> read() const { return tensor<T const, dyn, dyn>(values.data(), n, width); }
};

template <class T>
rows<T> drawn(philox_key seed, index_t n, index_t width) {
  rows<T> r{n, width};
  random_orthonormal(seed, r.view());
  return r;
}

TEMPLATE_TEST_CASE("random rows are orthonormal, whatever their number and width", "", float, double) {
  for (auto const& [n, width] :
       {std::pair<index_t, index_t>{1, 1}, {1, 2}, {2, 2}, {7, 7}, {7, 8}, {15, 20}, {31, 64}, {3, 129}})
    CHECK_NOTHROW(expect_orthonormal(drawn<TestType>(3, n, width).read(), "rows"));
}

TEST_CASE("more rows than columns have orthonormal columns") {
  auto r = drawn<double>(3, 9, 5);
  rows<double> columns{5, 9};
  for (index_t i = 0; i < 9; ++i)
    for (index_t j = 0; j < 5; ++j) columns.view()(j, i) = r.view()(i, j);
  CHECK_NOTHROW(expect_orthonormal(columns.read(), "columns"));
}

TEST_CASE("one seed draws the same rows, another draws others") {
  CHECK(drawn<double>(3, 15, 16).values == drawn<double>(3, 15, 16).values);
  CHECK(drawn<double>(3, 15, 16).values != drawn<double>(4, 15, 16).values);
}

TEST_CASE("entries have the moments of a uniformly drawn orthonormal matrix") {
  index_t const n = 255;
  auto const r = drawn<double>(7, n, n);
  double const count = static_cast<double>(n * n), width = static_cast<double>(n);
  double mean = 0, fourth = 0;
  for (double v : r.values) {
    mean += v / count;
    fourth += v * v * v * v / count;
  }
  CHECK_THAT(mean, WithinAbs(0, 5 / std::sqrt(width * count)));
  // The expected value of v^4 is 3 / (n (n + 2)). With only one or two plane rotations, the mean would still be near 1
  // / n.
  CHECK_THAT(fourth * width * (width + 2) / 3, WithinAbs(1, 0.06));
}

TEST_CASE("rows that are not orthonormal are refused, two of them named") {
  auto r = drawn<double>(3, 7, 8);
  r.values[3 * 8 + 2] += 1e-6;
  CHECK_THROWS_AS(expect_orthonormal(r.read(), "roles"), data_error);
  CHECK_THROWS_WITH(expect_orthonormal(r.read(), "roles"),
                    contains("roles are not orthonormal: rows") && contains("and 3 have inner product"));
  r.values[3 * 8 + 2] = std::nan("");
  CHECK_THROWS_AS(expect_orthonormal(r.read(), "roles"), data_error);
}

TEST_CASE("fillers leave row 0 empty; one-hot fillers are unit vectors") {
  rows<double> f{5, 6}, hot{4, 3};
  random_fillers(1, f.view());
  one_hot_fillers(hot.view());
  for (index_t j = 0; j < 6; ++j) CHECK(f.view()(0, j) == 0);
  CHECK_NOTHROW(expect_orthonormal(f.read(), "fillers", 1));
  CHECK(hot.values == std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
  rows<double> one_more{7, 6}, too_many{8, 6};  // there are six labels, and the empty one
  random_fillers(1, one_more.view());
  CHECK_NOTHROW(expect_orthonormal(one_more.read(), "fillers", 1));
  CHECK_THROWS_WITH(random_fillers(1, too_many.view()),
                    contains("7 orthonormal labels of width 6, expected a width of 7 or more"));
  CHECK_NOTHROW(one_hot_fillers(one_more.view()));
  CHECK_THROWS_WITH(one_hot_fillers(too_many.view()),
                    contains("7 orthonormal labels of width 6, expected a width of 7 or more; make them wider"));
}

}  // namespace tree_roles_tests
