// Tests vectors of floats: incomplete vectors at the ends of rows, lanes that bits select, exp, and sums across lanes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/simd.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

namespace cpu_simd_tests {

using namespace triad;
using simd::lanes;

static_assert(simd::vectors(0) == 0 && simd::vectors(1) == 1 && simd::vectors(lanes + 1) == 2);
static_assert(simd::padded(lanes) == lanes && simd::padded(lanes + 1) == 2 * lanes);

std::vector<float> counted(int count) {
  std::vector<float> v;
  for (int i = 0; i < count; ++i) v.push_back(static_cast<float>(i + 1));
  return v;
}

TEST_CASE("the vectors of a row are every element once, and its tail touches nothing after it") {
  for (int k = 0; k <= 3 * lanes; ++k) {
    CAPTURE(k);
    auto const from = counted(k);  // a read of more than the tail would go beyond the row
    std::vector<float> to(static_cast<std::size_t>(k) + 2, -1);
    simd::each_vector(k, [&](index_t c, auto part) { part.store(to.data() + c, part.load(from.data() + c) * 2.0f); });
    for (int i = 0; i < k; ++i) REQUIRE(to[static_cast<std::size_t>(i)] == 2 * from[static_cast<std::size_t>(i)]);
    CHECK(to[static_cast<std::size_t>(k)] == -1);
  }
}

TEST_CASE("lanes are kept by the bits of a word, wherever in a list of bits it begins") {
  auto const values = counted(lanes);
  simd::floats const v = simd::load(values.data());
  std::uint64_t const bits[] = {0x5a5a00ff1234abcdu, 0x0f0f1111ffff0000u, 0};
  for (std::uint64_t position : {0u, 1u, 7u, 8u, 33u, 60u, 63u, 64u}) {
    auto const kept = simd::keep(v, bits, position);
    for (int i = 0; i < lanes; ++i) {
      auto const at = position + static_cast<std::uint64_t>(i);
      REQUIRE(kept[i] == ((bits[at / 64] >> at % 64 & 1) != 0 ? v[i] : 0));
    }
  }
}

TEST_CASE("exp of what is not positive has a float's digits, is zero far down and keeps a NaN") {
  for (int i = 0; i <= 69 * 16; ++i) {
    float const x = -static_cast<float>(i) / 16;
    double const exact = std::exp(static_cast<double>(x));
    // x / log 2 is computed in float, so its rounding error grows with x. The relative error of exp grows by the same
    // amount.
    double const allowed = 3e-7 - 9e-8 * static_cast<double>(x);
    REQUIRE_THAT(static_cast<double>(simd::exp_nonpositive(simd::broadcast(x))[0]), test::WithinRel(exact, allowed));
  }
  CHECK(simd::exp_nonpositive(simd::broadcast(0))[1] == 1);
  CHECK(simd::exp_nonpositive(simd::broadcast(-70))[1] == 0);
  CHECK(simd::exp_nonpositive(simd::broadcast(-std::numeric_limits<float>::infinity()))[1] == 0);
  CHECK(std::isnan(simd::exp_nonpositive(simd::broadcast(std::nanf("")))[1]));
}

TEST_CASE("sums of vectors are in the order of the vectors, maxima and roots in their lanes") {
  auto const all = counted(lanes * lanes);
  auto const sums = simd::sums(all.data());
  for (int r = 0; r < lanes; ++r)  // this is the sum of r L + 1, ..., (r + 1) L
    CHECK(sums[r] == static_cast<float>(lanes * (r * lanes) + lanes * (lanes + 1) / 2));
  auto const v = simd::load(all.data());
  CHECK(simd::sqrt(v * v)[lanes - 1] == static_cast<float>(lanes));
  auto const larger = simd::max(v, simd::broadcast(2));
  CHECK((larger[0] == 2 && larger[1] == 2 && larger[2] == 3));
  float const* rows[lanes];
  for (int i = 0; i < lanes; ++i) rows[i] = all.data() + 8 * i;
  auto const fours = simd::load_fours(rows, 1);
  for (int i = 0; i < lanes; ++i) CHECK(fours[i] == static_cast<float>(8 * (i / 4 * 4) + 1 + i % 4 + 1));
  std::vector<float> const four{3, 5, 7, 9};
  auto const repeated = simd::broadcast_four(four.data());
  for (int i = 0; i < lanes; ++i) CHECK(repeated[i] == four[static_cast<std::size_t>(i % 4)]);
}

}  // namespace cpu_simd_tests
