// Tests on every backend that rows of a table, given by index, are read, and that rows are added to them.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/gather.hpp"

#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/rows.hpp"
#include "triad/cpu/cpu.hpp"

namespace ops_gather_tests {

using namespace triad;
using test::contains;
using test::is_device;
using test::random_values;
using test::rows_of;
using test::tolerance;
using test::WithinAbs;

TEMPLATE_TEST_CASE("gathered rows are the table's, and scattering adds back what was gathered", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  using backend = typename TestType::backend;
  backend ex;
  for (index_t d : {1, 31, 33, 200})
    for (index_t rows : {0, 1, 300}) {
      CAPTURE(d, rows);
      auto const table = random_values<T>(7 * d, 1), dy = random_values<T>(rows * d, 2);
      std::vector<index_t> index(static_cast<std::size_t>(rows));
      random_stream random(1, 2);
      for (auto& i : index) i = random.below(7);
      std::vector<T> y(static_cast<std::size_t>(rows * d)), dtable(table.size(), T(1)), expected = dtable;
      gather_rows(ex, rows_of(table, {7, d}), make_vec<index_t const>(index.data(), rows), rows_of(y, {rows, d}));
      scatter_add_rows(ex, rows_of(dy, {rows, d}), make_vec<index_t const>(index.data(), rows),
                       rows_of(dtable, {7, d}));
      for (index_t r = 0; r < rows; ++r)
        for (index_t c = 0; c < d; ++c) {
          auto const from = index[static_cast<std::size_t>(r)];
          REQUIRE(rows_of(y, {rows, d})(r, c) == rows_of(table, {7, d})(from, c));
          expected[static_cast<std::size_t>(from * d + c)] += dy[static_cast<std::size_t>(r * d + c)];
        }
      if constexpr (is_device<backend>)
        for (std::size_t i = 0; i < expected.size(); ++i)
          REQUIRE_THAT(dtable[i], WithinAbs(static_cast<double>(expected[i]), 10 * tolerance<T>));
      else
        CHECK(dtable == expected);  // has the same bits, because both add in ascending order of rows
    }
  std::vector<index_t> const wrong{3, 7}, negative{-1, 0};
  std::vector<T> table(14), y(4);
  for (auto const& index : {wrong, negative}) {
    if constexpr (is_device<backend>) continue;
    CHECK_THROWS_AS(
        gather_rows(ex, rows_of(std::as_const(table), {7, 2}), make_vec(index.data(), 2), rows_of(y, {2, 2})),
        contract_violation);
    CHECK_THROWS_AS(
        scatter_add_rows(ex, rows_of(std::as_const(y), {2, 2}), make_vec(index.data(), 2), rows_of(table, {7, 2})),
        contract_violation);
  }
}

TEST_CASE("an index outside of its table is reported with its row") {
  reference::backend ex;
  std::vector<double> const table(14);
  std::vector<double> y(6);
  std::vector<index_t> const index{3, 0, 7};
  try {
    gather_rows(ex, rows_of(table, {7, 2}), make_vec(index.data(), 3), rows_of(y, {3, 2}));
    FAIL("index 7 of 7 rows was taken");
  } catch (index_out_of_range const& e) {
    CHECK((e.row == 2 && e.index == 7 && e.rows == 7));
    CHECK(std::string(e.what()) == "gather_rows: index 7 of row 2 is outside of a table of 7 rows");
  }
}

TEST_CASE("rows and indices that do not fit are refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  std::vector<index_t> index(10);
  auto const i = [&](index_t size_of) { return make_vec<index_t const>(index.data(), size_of); };
  CHECK_THROWS_WITH(gather_rows(ex, m(5, 2), i(4), m(3, 2)), contains("gather_rows: 3 rows of y, expected 4"));
  CHECK_THROWS_WITH(gather_rows(ex, m(5, 2), i(3), m(3, 3)), contains("gather_rows: 3 columns of y, expected 2"));
  CHECK_THROWS_WITH(scatter_add_rows(ex, m(3, 2), i(4), m(5, 2)),
                    contains("scatter_add_rows: 3 rows of dy, expected 4"));
}

}  // namespace ops_gather_tests
