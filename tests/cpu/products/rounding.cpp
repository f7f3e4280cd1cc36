// Tests the rounding of floats to bfloat16.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/rounding.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.hpp"

namespace cpu_rounding_tests {

using triad::cpu::round_matrix;
using triad::cpu::rounded;
using triad::cpu::widened;
using narrow = triad::cpu::bfloat16;

float nearest(float x) { return widened(rounded(x)); }
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

TEST_CASE("a matrix is rounded with zeros around it") {
  std::vector<float> from(5 * 9);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = 1.0f + static_cast<float>(i) / 100;
  std::vector<narrow> to(8 * 16, narrow{0x1234});
  round_matrix(from.data(), 9, 5, 7, to.data(), 16, 6, 12);
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t c = 0; c < 16; ++c) {
      auto const bits = to[r * 16 + c].bits;
      if (r >= 6 || c >= 12)
        CHECK(bits == 0x1234);
      else
        CHECK(bits == (r < 5 && c < 7 ? rounded(from[r * 9 + c]).bits : 0));
    }
}

}  // namespace cpu_rounding_tests
