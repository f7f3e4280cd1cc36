// Tests sums of all elements, of squares and of rows. A sum must always be computed in the same order.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/rows.hpp"
#include "triad/cpu/cpu.hpp"

namespace ops_reduce_tests {

using namespace triad;
using test::contains;
using test::random_values;
using test::rows_of;
using test::sizes;
using test::tolerance;
using test::with_scratch;
using test::WithinAbs;
using test::WithinRel;

TEMPLATE_TEST_CASE("sums, norms and column sums are what they say at every size", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t n : {0, 1, 17, 16384, 16385, 50000}) {
    CAPTURE(n);
    auto const x = random_values<T>(n, 1);
    auto const xs = make_vec(x.data(), n);
    long double sum_of = 0, squares = 0;
    for (T v : x)
      sum_of += static_cast<long double>(v), squares += static_cast<long double>(v) * static_cast<long double>(v);
    T total = 9, length = 9;
    with_scratch(ex, {}, [&](auto& backend, call const& c) {
      sum(backend, *c.scratch, xs, make_vec(&total, 1));
      norm(backend, *c.scratch, xs, make_vec(&length, 1));
    });
    CHECK_THAT(total, WithinAbs(static_cast<double>(sum_of), 10 * tolerance<T>));
    CHECK_THAT(length, WithinRel(static_cast<double>(std::sqrt(squares)), tolerance<T>));
  }
  for (auto const s : sizes) {
    auto const x = random_values<T>(s.rows * s.columns, 1);
    std::vector<T> sums(static_cast<std::size_t>(s.columns), T(5));
    for (bool turned : {false, true}) {  // columns of a transposed matrix are not adjacent in memory
      auto const m = turned ? make_matrix(x.data(), s.rows, s.columns, index_t{1}, std::max<index_t>(s.rows, 1))
                            : as_matrix(rows_of(x, s));
      sums.assign(sums.size(), T(5));
      with_scratch(ex, {}, [&](auto& backend, call const& c) {
        column_sums_add(backend, *c.scratch, m, make_vec(sums.data(), s.columns));
      });
      for (index_t c = 0; c < s.columns; ++c) {
        double expected = 5;
        for (index_t r = 0; r < s.rows; ++r) expected += static_cast<double>(m(r, c));
        REQUIRE_THAT(sums[static_cast<std::size_t>(c)], WithinAbs(expected, 5 * tolerance<T>));
      }
    }
  }
}

TEMPLATE_TEST_CASE("column sums have the same bits if rows of zeros follow", "", TRIAD_TEST_TYPES) {
  // A device adds up to 512 rows in one launch, and more rows in two.
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  index_t const columns = 70, padded = 700;
  auto const sums_of = [&](std::vector<T> const& x, index_t rows) {
    std::vector<T> sums(static_cast<std::size_t>(columns), T(0.1));
    with_scratch(ex, {}, [&](auto& backend, call const& c) {
      column_sums_add(backend, *c.scratch, rows_of(x, {rows, columns}), make_vec(sums.data(), columns));
    });
    return sums;
  };
  for (index_t rows : {1, 16, 31, 32, 33, 288, 511, 512, 513}) {
    CAPTURE(rows);
    auto x = random_values<T>(rows * columns, 1);
    x.resize(static_cast<std::size_t>(padded * columns), T(0));
    CHECK(sums_of(x, rows) == sums_of(x, padded));
  }
}

TEST_CASE("sums have the same bits for one, two and three threads") {
  auto const run = [](int threads) {
    cpu::backend ex(threads);
    auto const x = random_values<float>(60000, 1);
    std::vector<float> sums(62);
    with_scratch(ex, {}, [&](auto& backend, call const& c) {
      column_sums_add(backend, *c.scratch, rows_of(x, {1000, 60}), make_vec(sums.data(), 60));
      sum(backend, *c.scratch, make_vec(x.data(), 60000), make_vec(sums.data() + 60, 1));
      norm(backend, *c.scratch, make_vec(x.data(), 60000), make_vec(sums.data() + 61, 1));
    });
    return sums;
  };
  auto const one = run(1);
  CHECK(one == run(2));
  CHECK(one == run(3));
}

TEST_CASE("sums of what does not fit are refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  auto const n = [&](index_t size_of) { return make_vec(v.data(), size_of); };
  arena scratch;
  CHECK_THROWS_WITH(column_sums_add(ex, scratch, m(2, 3), n(2)), contains("s is (2), expected (3)"));
  CHECK_THROWS_WITH(sum(ex, scratch, n(3), n(0)), contains("total is (0), expected (1)"));
  CHECK_THROWS_WITH(norm(ex, scratch, n(3), n(2)), contains("length is (2), expected (1)"));
}

}  // namespace ops_reduce_tests
