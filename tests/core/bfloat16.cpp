// Tests the rounding of floats to bfloat16.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/bfloat16.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/catch.hpp"

namespace core_bfloat16_tests {

using triad::from_bfloat16;
using triad::to_bfloat16;

float nearest(float x) { return from_bfloat16(to_bfloat16(x)); }
float of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

TEST_CASE("a float is rounded to the nearest bfloat16, and to even") {
  CHECK(nearest(1.0f) == 1.0f);
  CHECK(nearest(-0.0f) == 0.0f);
  CHECK(std::signbit(nearest(-0.0f)));
  CHECK(nearest(1.0f + 1.0f / 256) == 1.0f);                // halfway: 1 has the even last bit
  CHECK(nearest(1.0f + 3.0f / 256) == 1.0f + 4.0f / 256);   // halfway: the upper number is even
  CHECK(nearest(1.0f + 1.01f / 256) == 1.0f + 2.0f / 256);  // above halfway
  CHECK(nearest(of_bits(0x00000001)) == 0.0f);              // the smallest denormal number
  CHECK(nearest(of_bits(0x00018000)) == of_bits(0x00020000));
}

TEST_CASE("what is beyond the largest bfloat16 is infinite, and a NaN stays one") {
  float const infinity = std::numeric_limits<float>::infinity();
  CHECK(nearest(std::numeric_limits<float>::max()) == infinity);
  CHECK(nearest(of_bits(0x7f7f7fff)) == of_bits(0x7f7f0000));
  CHECK(nearest(-infinity) == -infinity);
  for (std::uint32_t const bits : {0x7f800001u, 0x7fffffffu, 0xffffffffu, 0xff800001u, 0x7fc00000u}) {
    CHECK(std::isnan(nearest(of_bits(bits))));
    CHECK(std::signbit(nearest(of_bits(bits))) == std::signbit(of_bits(bits)));
  }
}

TEST_CASE("the error of rounding is at most half of the last of eight bits") {
  std::mt19937 generator(7);
  for (int i = 0; i < 100'000; ++i) {
    float const x = of_bits(static_cast<std::uint32_t>(generator()));
    if (!std::isnormal(x) || !std::isfinite(nearest(x))) continue;
    REQUIRE(std::abs(nearest(x) - x) <= std::ldexp(std::abs(x), -8));
  }
}

}  // namespace core_bfloat16_tests
