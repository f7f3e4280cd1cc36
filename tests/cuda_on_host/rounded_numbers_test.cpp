// Tests pairs of 16-bit numbers: rounding, products and sums of products, as a kernel computes them. Tests the terms that
// the lanes of a warp read for tensor cores.
// Tests cuda/device/half_pair.cuh and cuda/device/tile_product.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "session.hpp"
#include "triad/cuda/device/half_pair.cuh"
#include "triad/cuda/device/launch.cuh"
#include "triad/cuda/device/tile_product.cuh"

namespace cuda_on_host_rounded_numbers_tests {

using namespace triad;
using namespace triad::test;

/// y(i) = {a, a b, a b + c}, where every number is the second of its pair, and the first one is its negative.
struct compute {
  static constexpr char const* name = "pairs of 16-bit numbers";
  static constexpr int threads = 32;
  TRIAD_DEVICE void operator()(triad::cuda::block const& b, matrix<float const> x, matrix<float> y) const {
    using namespace triad::cuda;
    for (index_t i = b.thread(); i < x.extent(0); i += threads) {
      half_pair const a = rounded_pair(-x(i, 0), x(i, 0)), by = rounded_pair(x(i, 1), x(i, 1)),
                      to = rounded_pair(-x(i, 2), x(i, 2));
      int column = 0;
      for (auto const made : {a, a * by, add_product(a, by, to)}) {
        auto const moved = as_pair(as_float(made));
        y(i, column++) = first_of(moved);
        y(i, column++) = second_of(moved);
      }
    }
  }
};

/// Returns a, a b and a b + c for each line {a, b, c}.
std::vector<std::vector<double>> computed(std::vector<std::vector<float>> const& lines) {
  session<triad::cuda::backend> s(device());
  std::vector<float> all;
  for (auto const& line : lines) all.insert(all.end(), line.begin(), line.end());
  auto const rows = static_cast<index_t>(lines.size());
  auto const x = s.put(all, rows, 3), y = s.spoiled<float>(rows, 6);
  launch(s.ex, compute(), 1, matrix<float const>(x), y);
  s.collect(y);
  std::vector<std::vector<double>> seconds(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      double const first = s.results[6 * i + 2 * k], second = s.results[6 * i + 2 * k + 1];
      CHECK(((std::isnan(first) && std::isnan(second)) || first == -second));
      seconds[i].push_back(second);
    }
  return seconds;
}

TEST_CASE("numbers of 16 bits are rounded to 10 bits, and ties to even", "") {
  struct rounding {
    float from;
    double to;
  };
  constexpr double tiny = 0x1p-24, infinity = std::numeric_limits<double>::infinity();
  std::vector<rounding> const expected{{0, 0},
                                       {1, 1},
                                       {1 + 0x1p-10f, 1 + 0x1p-10},
                                       {1 + 0x1p-11f, 1},             // a tie
                                       {1 + 0x1.8p-10f, 1 + 0x1p-9},  // a tie
                                       {1 + 0x1.004p-11f, 1 + 0x1p-10},
                                       {2 - 0x1p-12f, 2},
                                       {65504, 65504},
                                       {65519, 65504},
                                       {65520, infinity},
                                       {1e30f, infinity},
                                       {0x1p-14f, 0x1p-14},
                                       {0x1.ff8p-15f, 1023 * tiny},
                                       {0x1.ffcp-15f, 1024 * tiny},  // a tie
                                       {0x1p-24f, tiny},
                                       {0x1p-25f, 0},           // a tie
                                       {0x1.8p-24f, 2 * tiny},  // a tie
                                       {0x1.000002p-25f, tiny},
                                       {1e-30f, 0}};
  std::vector<std::vector<float>> lines;
  for (auto const& e : expected) lines.push_back({e.from, 0, 0});
  auto const found = computed(lines);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(expected[i].from);
    CHECK(found[i][0] == expected[i].to);
  }
  CHECK(std::isnan(computed({{std::numeric_limits<float>::quiet_NaN(), 1, 1}})[0][2]));
}

TEST_CASE("all numbers of 16 bits stay as they are", "") {
  std::vector<std::vector<float>> lines;
  for (int exponent = -24; exponent < 6; ++exponent)
    for (int steps = exponent == -24 ? 0 : 1024; steps < 2048; ++steps)
      lines.push_back({std::ldexp(static_cast<float>(steps), exponent), 1, 0});
  auto const found = computed(lines);
  index_t changed = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (double const v : found[i]) changed += v != static_cast<double>(lines[i][0]);
  CHECK(changed == 0);
  CHECK(lines.size() == 31744);  // the positive ones, and zero
}

TEST_CASE("a product of 16-bit numbers is rounded once, and so is its sum", "") {
  float const step = 0x1p-10f;
  // (1 + 3 steps) (1 + 5 steps) = 1 + 8 steps + 15 step^2
  auto const found = computed({{1 + 3 * step, 1 + 5 * step, -1}, {300, 300, -60000}, {0x1p-13f, 0x1p-13f, 0}});
  CHECK(found[0][1] == static_cast<double>(1 + 8 * step));
  CHECK(found[0][2] == 0x1.008p-7);  // 8 steps + 15 step^2 = 8207 / 2^20; a rounded product would give 8192
  CHECK(std::isinf(found[1][1]));
  CHECK(found[1][2] == 30000);  // 90000 - 60000 is never rounded before
  CHECK(found[2][1] == 0);
}

/// Checks that four lanes read each of 4 Terms terms of a row once, in the order in which a product uses them.
template <triad::cuda::arithmetic Factors, int Terms>
void expect_each_term_once() {
  using namespace triad::cuda;
  alignas(16) float row[4 * Terms] = {};
  for (int k = 0; k < 4 * Terms; ++k) {
    auto const value = static_cast<float>(k + 1);
    if constexpr (Factors == arithmetic::tf32)
      row[k] = value;
    else if (k % 2 == 0)
      row[k / 8 * 8 + k % 8 / 2] = packed<Factors>(value, value + 1);
  }
  for (int k = 0; k < 4 * Terms; ++k) CHECK(term_of<Factors>(row, k) == static_cast<float>(k + 1));
  for (int lane = 0; lane < warp; ++lane) {
    lane_terms<Factors, Terms> const own(row, lane);
    for (int e = 0; e < Terms; ++e) {  // one word is a term in tf32, and two terms else
      alignas(4) float const word = own.at[Factors == arithmetic::tf32 ? e : e / 2];
      CHECK(term_of<Factors>(&word, Factors == arithmetic::tf32 ? 0 : e % 2) ==
            static_cast<float>(lane % 4 * Terms + e + 1));
    }
  }
}

TEST_CASE("four lanes read each term of a factor once") {
  using enum triad::cuda::arithmetic;
  expect_each_term_once<tf32, 4>();
  expect_each_term_once<tf32, 8>();
  expect_each_term_once<bf16, 4>();
  expect_each_term_once<bf16, 8>();
  expect_each_term_once<f16, 4>();
  expect_each_term_once<f16, 8>();
}

}  // namespace cuda_on_host_rounded_numbers_tests
