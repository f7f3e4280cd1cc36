// Tests numbers in f16, bf16 and tf32: rounding, products and sums of products of pairs, and the terms that the lanes
// of a warp read for tensor cores.
// Tests cuda/device/half_pair.cuh, cuda/device/rounding.cuh and cuda/device/tile_product.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <cuda/std/bit>
#include <limits>
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
  static constexpr char const* name = "pairs in f16";
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

TEST_CASE("numbers in f16 are rounded to 10 bits, and ties to even", "") {
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

TEST_CASE("all numbers in f16 stay as they are", "") {
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

TEST_CASE("a product in f16 is rounded once, and so is its sum", "") {
  float const step = 0x1p-10f;
  // (1 + 3 steps) (1 + 5 steps) = 1 + 8 steps + 15 step^2
  auto const found = computed({{1 + 3 * step, 1 + 5 * step, -1}, {300, 300, -60000}, {0x1p-13f, 0x1p-13f, 0}});
  CHECK(found[0][1] == static_cast<double>(1 + 8 * step));
  CHECK(found[0][2] == 0x1.008p-7);  // 8 steps + 15 step^2 = 8207 / 2^20; a rounded product would give 8192
  CHECK(std::isinf(found[1][1]));
  CHECK(found[1][2] == 30000);  // 90000 - 60000 is never rounded before
  CHECK(found[2][1] == 0);
}

// y(lane, e) is the term e of a lane, and y(lane, Terms + e) the term 4 e + lane % 4 of the row, for e below Terms.
// The row has 1, 2, ... rounded by the threads.
template <triad::cuda::arithmetic Factors, int Terms>
struct read_terms {
  static constexpr char const* name = "terms of lanes";
  static constexpr int threads = 32;
  struct shared {
    alignas(16) float row[4 * Terms];
  };
  TRIAD_DEVICE void operator()(triad::cuda::block const& b, matrix<float> y) const {
    using namespace triad::cuda;
    constexpr bool pairs = Factors != arithmetic::tf32;
    auto& s = b.shared<shared>();
    int const k = b.thread();
    if (k < 4 * Terms) s.row[k] = -1;
    b.sync();
    if (k < 4 * Terms) {
      if constexpr (!pairs)
        s.row[k] = in_tf32(static_cast<float>(k + 1));
      else if (k % 2 == 0)
        s.row[k / 8 * 8 + k % 8 / 2] = packed<Factors>(static_cast<float>(k + 1), static_cast<float>(k + 2));
    }
    b.sync();
    lane_terms<Factors, Terms> const own(s.row, b.lane());
    for (int e = 0; e < Terms; ++e) {
      float const word = own.at[pairs ? e / 2 : e];
      y(b.lane(), e) = term_of<Factors>(&word, pairs ? e % 2 : 0);
      y(b.lane(), Terms + e) = term_of<Factors>(s.row, 4 * e + b.lane() % 4);
    }
  }
};

template <triad::cuda::arithmetic Factors, int Terms>
void expect_each_term_once() {
  session<triad::cuda::backend> s(device());
  auto const y = s.spoiled<float>(32, 2 * Terms);
  launch(s.ex, read_terms<Factors, Terms>(), 1, y);
  s.collect(y);
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < Terms; ++e) {
      auto const first = static_cast<std::size_t>(2 * Terms * lane);
      CHECK(s.results[first + static_cast<std::size_t>(e)] == lane % 4 * Terms + e + 1);
      CHECK(s.results[first + static_cast<std::size_t>(Terms + e)] == 4 * e + lane % 4 + 1);
    }
}

TEST_CASE("four lanes read each term of a factor once", "") {
  using enum triad::cuda::arithmetic;
  expect_each_term_once<tf32, 4>();
  expect_each_term_once<tf32, 8>();
  expect_each_term_once<bf16, 4>();
  expect_each_term_once<bf16, 8>();
  expect_each_term_once<f16, 4>();
  expect_each_term_once<f16, 8>();
}

/// y(i) = {x(i) rounded to tf32 by `rounding`, and by in_tf32(), to bf16 by `rounding`, and as a pair, to f16 by
/// `rounding`}
struct round_all {
  static constexpr char const* name = "rounding";
  static constexpr int threads = 32;
  TRIAD_DEVICE void operator()(triad::cuda::block const& b, matrix<float const> x, matrix<float> y) const {
    using namespace triad::cuda;
    for (index_t i = b.thread(); i < x.extent(0); i += threads) {
      float const v = x(i, 0), pair[2] = {packed<arithmetic::bf16>(v, -v), 0};
      y(i, 0) = rounding(arithmetic::tf32)(v);
      y(i, 1) = ::cuda::std::bit_cast<float>(::cuda::std::bit_cast<std::uint32_t>(in_tf32(v)) & 0xffffe000u);
      y(i, 2) = rounding(arithmetic::bf16)(v);
      y(i, 3) = term_of<arithmetic::bf16>(pair, 0);
      y(i, 4) = -term_of<arithmetic::bf16>(pair, 1);
      y(i, 5) = rounding(arithmetic::f16)(v);
    }
  }
};

TEST_CASE("floats are rounded to tf32, bf16 and f16", "") {
  struct rounded_value {
    float from;
    double tf32, bf16, f16;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  std::vector<rounded_value> const expected{
      {0, 0, 0, 0},
      {1, 1, 1, 1},
      {1 + 0x1p-11f, 1 + 0x1p-10, 1, 1},                        // a tie of 10 bits
      {1 + 0x1.8p-10f, 1 + 0x1p-9, 1, 1 + 0x1p-9},              // a tie of 10 bits
      {1 + 0x1p-8f, 1 + 0x1p-8, 1, 1 + 0x1p-8},                 // a tie of 7 bits
      {1 + 0x1.8p-7f, 1 + 0x1.8p-7, 1 + 0x1p-6, 1 + 0x1.8p-7},  // a tie of 7 bits
      {1 + 0x1.004p-11f, 1 + 0x1p-10, 1, 1 + 0x1p-10},          // above a tie
      {2 - 0x1p-20f, 2, 2, 2},                                  // a carry
      {1e5f, 0x1.86cp+16, 0x1.86p+16, infinity},                // beyond f16
      {largest, infinity, infinity, infinity},                  // a carry
      {std::numeric_limits<float>::infinity(), infinity, infinity, infinity},
      {0x1p-26f, 0x1p-26, 0x1p-26, 0},  // too small for f16
  };
  std::vector<float> x;
  for (auto const& e : expected) x.push_back(e.from);
  x.push_back(std::bit_cast<float>(0x7f800001u));  // a NaN whose bits would all be dropped
  x.push_back(std::bit_cast<float>(0x7fffffffu));  // a NaN that would be carried into the sign
  session<triad::cuda::backend> s(device());
  auto const rows = static_cast<index_t>(x.size());
  auto const in = s.put(x, rows, 1), y = s.spoiled<float>(rows, 6);
  launch(s.ex, round_all(), 1, matrix<float const>(in), y);
  s.collect(y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    for (std::size_t k = 0; k < 6; ++k) {
      double const found = s.results[6 * i + k];
      if (i >= expected.size())
        CHECK(std::isnan(found));
      else
        CHECK(found == (k < 2 ? expected[i].tf32 : k < 5 ? expected[i].bf16 : expected[i].f16));
    }
  }
}

}  // namespace cuda_on_host_rounded_numbers_tests
