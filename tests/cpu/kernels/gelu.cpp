// Tests gelu on whole registers: it is as accurate as float allows, and all lanes have the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/gelu.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/elementwise.hpp"

namespace cpu_gelu_tests {

using namespace triad;

TEST_CASE("the probability below a number and the bell are within a float's error of the exact ones") {
  for (int i = -400; i <= 400; ++i) {
    float const x = static_cast<float>(i) / 32;
    cpu::normal::lanes const v(simd::broadcast(x));
    double const exact = x, below = std::erfc(-exact / std::sqrt(2.0)) / 2, bell = std::exp(-exact * exact / 2);
    CAPTURE(x);
    // The error of the formula is 8e-8. Rounding adds a few units in the last place.
    REQUIRE_THAT(static_cast<double>(v.below[0]), test::WithinAbs(below, 3e-7));
    REQUIRE_THAT(static_cast<double>(v.bell[simd::lanes - 1]), test::WithinAbs(bell, 1e-6));
  }
}

TEST_CASE("gelu has the same bits whatever the threads, and whatever lies next to a value") {
  auto const x = test::random_values<float>(40001, 5, 6), dy = test::random_values<float>(40001, 6);
  auto const run = [&](int threads, index_t first, index_t count) {
    cpu::backend ex(threads);
    std::vector<float> y(static_cast<std::size_t>(2 * count));
    auto const value = make_vec(y.data(), count), slope = make_vec(y.data() + count, count);
    transform(ex, gelu{}, make_vec(x.data() + first, count), value);
    transform(ex, gelu_grad{}, make_vec(x.data() + first, count), make_vec(dy.data() + first, count), slope);
    return y;
  };
  auto const all = run(1, 0, 40001);
  CHECK(run(3, 0, 40001) == all);
  auto const few = run(1, 77, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(few[i] == all[77 + i]);
    CHECK(few[5 + i] == all[40001 + 77 + i]);
  }
}

}  // namespace cpu_gelu_tests
