// Tests in which type factors are kept, and the conversions of their views.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/kept_factor.hpp"

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/series.hpp"

namespace core_kept_factor_tests {

using namespace triad;

arena rounding(index_t from) {
  arena place;
  place.set_rounds_from(from);
  return place;
}

TEST_CASE("a factor is kept in bfloat16 if every product that reads it rounds it") {
  auto const is_rounded = [](index_t from, index_t columns, index_t partner, bool rounds = true) {
    auto place = rounding(from);
    auto const f = make_factor<float>(place, 5, columns, partner, rounds);
    CHECK(f.extent(0) == 5);
    CHECK(f.extent(1) == columns);
    CHECK(place.used() == arena_stride(static_cast<std::size_t>(5 * columns) * (f.is_rounded() ? 2 : 4)));
    return f.is_rounded();
  };
  CHECK(is_rounded(32, 32, 40));
  CHECK(is_rounded(1, 1, 1));
  CHECK_FALSE(is_rounded(0, 32, 40));  // products do not round
  CHECK_FALSE(is_rounded(32, 31, 40));
  CHECK_FALSE(is_rounded(32, 40, 31));
  CHECK_FALSE(is_rounded(32, 40, 40, false));
  auto place = rounding(32);
  CHECK_FALSE(make_factor<double>(place, 5, 40, 40).is_rounded());
}

TEST_CASE("memory within an arena is for the same factors") {
  auto place = rounding(32);
  CHECK(place.cut(100).rounds_from() == 32);
  auto const plan = [](arena& a) { return make_factor<float, 40>(a, 3, 40, 40); };
  auto const bytes = planned_bytes([&](arena& a) { (void)plan_series(a, plan, 2); }, 32);
  CHECK(bytes == 2 * arena_stride(3 * 40 * 2));
  buffer<> const memory(bytes);
  auto real = memory.place();
  real.set_rounds_from(32);
  auto const factors = plan_series(real, plan, 2);
  CHECK(factors.at(1).is_rounded());
  CHECK(factors.at(1).rounded.data_handle() - factors.at(0).rounded.data_handle() ==
        static_cast<std::ptrdiff_t>(arena_stride(3 * 40 * 2) / 2));
  CHECK(plan_series(place, plan, 2).at(0).is_rounded());
}

TEST_CASE("a view is a factor that is not rounded, and any factor has a read-only view") {
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  triad::bfloat16 rounded[6] = {};
  kept_factor<float const, 3> const plain(tensor<float, dyn, 3>(numbers, 2));
  CHECK_FALSE(plain.is_rounded());
  CHECK(plain.values(1, 2) == 6);
  kept_factor<float, 3> const half(tensor<triad::bfloat16, dyn, 3>(rounded, 2));
  kept_factor<float const> const read(half);
  CHECK(read.is_rounded());
  CHECK(read.extent(0) == 2);
  CHECK(read.extent(1) == 3);
  CHECK(read.values.extent(0) == 0);
  CHECK_FALSE(kept_factor<float>().is_rounded());

  arena scratch;
  CHECK(unrounded(scratch, half).extent(1) == 3);
  CHECK(scratch.used() == arena_stride(6 * sizeof(float)));
  CHECK(unrounded(scratch, kept_factor<float, 3>(tensor<float, dyn, 3>(numbers, 2))).data_handle() == numbers);
  CHECK(scratch.used() == arena_stride(6 * sizeof(float)));
}

}  // namespace core_kept_factor_tests
