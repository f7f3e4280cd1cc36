// Tests that matrices, transposes, slices and blocks read the right elements, also beyond index 2^31.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/views.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/arena.hpp"
#include "triad/core/random.hpp"

namespace core_views_tests {

using namespace triad;
using test::contains;

constexpr index_t huge = std::numeric_limits<index_t>::max();

TEST_CASE("a view as a matrix, its transpose and its blocks name the same elements") {
  std::vector<int> data(2 * 3 * 4);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i);
  tensor<int, 2, dyn, 4> const cube(data.data(), 3);
  auto const m = as_matrix(cube);
  REQUIRE(m.extent(0) == 6);
  REQUIRE(m.extent(1) == 4);
  auto const t = transposed(cube);
  auto const block = column_block(row_block(m, 1, 4), 2, 2), turned = row_block(transposed(m), 2, 2);
  for (index_t i = 0; i < 2; ++i)
    for (index_t j = 0; j < 3; ++j)
      for (index_t c = 0; c < 4; ++c) {
        CHECK(&m(i * 3 + j, c) == &cube(i, j, c));
        CHECK(&t(c, i * 3 + j) == &cube(i, j, c));
      }
  for (index_t r = 0; r < 4; ++r)
    for (index_t c = 0; c < 2; ++c) {
      CHECK(&block(r, c) == &m(r + 1, c + 2));
      CHECK(&turned(c, r) == &m(r, c + 2));
    }
  CHECK(as_matrix(transposed(t)).data_handle() == m.data_handle());
  CHECK(transposed(transposed(m)).stride(0) == 4);
  CHECK(as_matrix(vec<int>(data.data(), 5)).extent(0) == 1);
  CHECK(as_vec(cube).extent(0) == 24);
  static_assert(std::is_same_v<decltype(read_only(cube)), tensor<int const, 2, dyn, 4>>);
  CHECK(read_only(cube).data_handle() == data.data());
  CHECK(same_shape(m, row_block(m, 0, 6)));
  CHECK_FALSE(same_shape(m, t));
}

TEST_CASE("a slice is the k-th view of those that a view holds, with its static extents") {
  std::vector<int> values(2 * 3 * 4);
  std::iota(values.begin(), values.end(), 0);
  tensor<int, dyn, dyn, 4> const all(values.data(), 2, 3);
  auto const second = slice(all, 1);
  static_assert(std::is_same_v<decltype(second), tensor<int, dyn, 4> const>);
  REQUIRE(second.extent(0) == 3);
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 4; ++j) CHECK(second(i, j) == all(1, i, j));
  auto const row = slice(read_only(second), 2);
  static_assert(std::is_same_v<decltype(row), tensor<int const, 4> const>);
  CHECK(row(3) == all(1, 2, 3));
}

TEST_CASE("a slice of a view without memory has none") {
  auto const none = slice(tensor<double, dyn, dyn, dyn>(nullptr, 5, 0, 3), 4);
  CHECK(none.data_handle() == nullptr);
  CHECK(none.extent(0) == 0);
  CHECK(none.extent(1) == 3);
}

TEST_CASE("a contiguous view has other rows and columns, and no more numbers than it has") {
  std::vector<int> values(24);
  tensor<int, dyn, dyn, 4> const cube(values.data(), 2, 3);
  auto const rows = reshape(cube, 2, 12);
  auto const some = reshape<4>(read_only(cube), 5, 4);
  static_assert(decltype(some)::static_extent(1) == 4);
  CHECK((rows.extent(0) == 2 && rows.extent(1) == 12 && &rows(1, 5) == &cube(1, 1, 1)));
  CHECK((some.extent(0) == 5 && &some(4, 3) == &cube(1, 1, 3)));
  CHECK((as_row(cube).extent(0) == 1 && as_row(cube).extent(1) == 24));
  CHECK(reshape(tensor<int, dyn, dyn>(nullptr, 4, 6), 6, 4).data_handle() == nullptr);
  CHECK_THROWS_WITH(reshape(cube, 5, 5), contains("reshape: 5 x 5 values, expected 0 to 24"));
  CHECK_THROWS_AS(reshape(cube, -1, 4), contract_violation);
}

TEST_CASE("blocks of rows and columns lie within their matrix") {
  std::vector<double> values(12);
  auto const m = make_matrix(values.data(), 3, 4, 4);
  CHECK(row_block(m, 3, 0).extent(0) == 0);
  CHECK(column_block(m, 1, 3).extent(1) == 3);
  CHECK_THROWS_WITH(row_block(m, 1, 3), contains("row_block: 3 from 1 on, expected a block within 3"));
  CHECK_THROWS_WITH(column_block(m, 2, 3), contains("column_block: 3 from 2 on, expected a block within 4"));
  for (index_t bad : {index_t{-1}, index_t{5}, huge}) {
    CHECK_THROWS_AS(row_block(m, bad, 1), contract_violation);
    CHECK_THROWS_AS(row_block(m, 1, bad), contract_violation);
    CHECK_THROWS_AS(column_block(m, bad, 1), contract_violation);
    CHECK_THROWS_AS(column_block(m, 1, bad), contract_violation);
  }
}

// Reserves address space. Only pages that are written or read take memory.
struct vast_memory {
  std::size_t bytes;
  void* data;
  explicit vast_memory(std::size_t b)
      : bytes(b), data(mmap(nullptr, b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  vast_memory(vast_memory const&) = delete;
  vast_memory& operator=(vast_memory const&) = delete;
  ~vast_memory() {
    if (data != MAP_FAILED) munmap(data, bytes);
  }
};

TEST_CASE("a view of another shape is refused with both shapes") {
  std::vector<double> values(12);
  auto const m = make_matrix(values.data(), 3, 4, 4);
  CHECK_NOTHROW(expect_shape("softmax", "y", m, {3, 4}));
  CHECK_THROWS_WITH(expect_shape("softmax", "y", m, {3, 5}), contains("softmax: y is (3, 4), expected (3, 5) ("));
  CHECK_THROWS_WITH(expect_shape("sum", "total", make_vec(values.data(), 2), {1}),
                    contains("sum: total is (2), expected (1)"));
  tensor<double, dyn, dyn, dyn> const cube(values.data(), 2, 3, 2);
  CHECK_NOTHROW(expect_same_shape("transform", "y", cube, cube));
  tensor<double, dyn, 2, 2> const other(values.data(), 3);
  CHECK_THROWS_WITH(expect_same_shape("transform", "y", cube, other),
                    contains("transform: y is (2, 3, 2), expected (3, 2, 2)"));
  int const line = __LINE__ + 1;
  CHECK_THROWS_WITH(expect_same_shape("softmax", "y", m, transposed(m)),
                    contains(std::string(__FILE__) + ":" + std::to_string(line)));
  CHECK_NOTHROW(expect_unit_stride("wide_matmul", "x", m));
  CHECK_THROWS_WITH(expect_unit_stride("wide_matmul", "x", transposed(m)),
                    contains("wide_matmul: x has a column stride of 4, expected 1"));
}

TEST_CASE("elements beyond 2^31 and 2^32 are where they belong") {
  index_t const rows = index_t{8} * 1024 * 1024, d = 640;  // 5.4e9 elements, as for n = 1024 and b = 8
  vast_memory const memory(static_cast<std::size_t>(rows * d));
  if (memory.data == MAP_FAILED) {
    WARN("no address space for 5 GiB here: not tested");
    return;
  }
  auto* const first = static_cast<std::uint8_t*>(memory.data);
  tensor<std::uint8_t, dyn, dyn> const x(first, rows, d);
  tensor<std::uint8_t, dyn, dyn, 1024, 640> const cube(first, 8, 1024);
  static_assert(sizeof(decltype(x)::size_type) == 8);
  CHECK(x.size() == static_cast<std::size_t>(rows * d));
  for (index_t const at :
       {(index_t{1} << 31) - 1, index_t{1} << 31, (index_t{1} << 32) - 1, index_t{1} << 32, rows * d - 1}) {
    CAPTURE(at);
    index_t const r = at / d, c = at % d;
    CHECK(&x(r, c) - first == at);
    CHECK(&as_matrix(x)(r, c) - first == at);
    CHECK(&transposed(x)(c, r) - first == at);
    CHECK(&as_vec(x)(at) - first == at);
    CHECK(&row_block(x, r, 1)(0, c) - first == at);
    CHECK(&cube(r >> 20, r >> 10 & 1023, r & 1023, c) - first == at);
    x(r, c) = 42;
    CHECK(first[at] == 42);
    CHECK(dropout_element(r, c, d) == static_cast<std::uint64_t>(at));  // 640 is a multiple of the block size
  }
  arena measure;
  (void)measure.make<tensor<float, dyn, dyn>>(rows, d);
  CHECK(measure.used() == static_cast<std::size_t>(rows * d) * 4 + arena_slack);
}

}  // namespace core_views_tests
