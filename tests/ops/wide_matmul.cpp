// Tests products with one very wide matrix. On every backend, compares them with the definition, also with unused
// columns. The number of threads must not change a bit.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/wide_matmul.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"

namespace ops_wide_matmul_tests {

using namespace triad;

/// Random values of x, w, bias and dy. Between the rows of x and of dx there are `skipped` more numbers, which must not
/// be written.
template <class T>
struct problem {
  static constexpr index_t skipped = 19;  // the same number may be read after the last row
  index_t m, n, k, stride = k + skipped;
  std::vector<T> x = test::random_values<T>(m * stride, 1), w = test::random_values<T>(n * k + skipped, 2),
                 bias = test::random_values<T>(n, 3), dy = test::random_values<T>(m * n, 4),
                 dx = test::random_values<T>(m * stride, 5);
  std::vector<T> y = std::vector<T>(static_cast<std::size_t>(m * n), std::numeric_limits<T>::quiet_NaN());

  /// Computes both products over `used` columns. The wide factor is stored with `most` columns.
  template <class Ex>
  void run(Ex&& ex, index_t used, index_t most) {
    test::with_scratch(ex, {}, [&](auto& on, call const& c) {
      auto const frame = c.scratch->open();
      auto const factor = lay_out_wide(on, *c.scratch, make_matrix<T const>(w.data(), n, k, k), most);
      wide_matmul(on, *c.scratch, make_matrix<T const>(x.data(), m, k, stride), factor, used,
                  make_vec<T const>(bias.data(), n), tensor<T, dyn, dyn>(y.data(), m, n));
      wide_matmul_back(on, make_matrix<T const>(dy.data(), m, n, n), factor, used,
                       make_matrix(dx.data(), m, k, stride));
    });
  }
};

/// Returns the largest error of a result, relative to the sum of the absolute values of its terms. Rounding errors are
/// proportional to this sum.
template <class T>
void check(problem<T> const& before, problem<T> const& after, index_t used, double tolerance) {
  auto const at = [](std::vector<T> const& v, index_t i) {
    return static_cast<double>(v[static_cast<std::size_t>(i)]);
  };
  double worst = 0;
  auto const see = [&](double found, double expected, double size) {
    worst = test::worse(worst, std::abs(found - expected) / size);
  };
  for (index_t r = 0; r < before.m; ++r) {
    for (index_t o = 0; o < before.n; ++o) {
      double sum = at(before.bias, o), size = std::abs(sum);
      for (index_t i = 0; i < used; ++i) {
        double const term = at(before.x, r * before.stride + i) * at(before.w, o * before.k + i);
        sum += term, size += std::abs(term);
      }
      see(at(after.y, r * before.n + o), sum, size);
    }
    for (index_t i = 0; i < before.stride; ++i) {
      double sum = at(before.dx, r * before.stride + i), size = std::abs(sum);
      for (index_t o = 0; o < before.n && i < used; ++o) {
        double const term = at(before.dy, r * before.n + o) * at(before.w, o * before.k + i);
        sum += term, size += std::abs(term);
      }
      see(at(after.dx, r * before.stride + i), sum, size);
    }
  }
  CHECK(worst <= tolerance);
}

TEMPLATE_TEST_CASE(
    "products with a wide matrix are their definition, whatever the rows, and no other column is touched", "",
    TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  double const tolerance = sizeof(T) == 8 ? 1e-15 : 1e-6;
  struct shape {
    index_t m, n, k, used, most;
  };
  for (auto const [m, n, k, used, most] :
       {shape{1, 1, 1, 1, 1}, shape{3, 2, 40, 17, 40}, shape{2, 6, 100, 96, 99}, shape{5, 7, 700, 600, 600},
        shape{4, 64, 2000, 1999, 2000}, shape{16, 33, wide_chunk + 1, wide_chunk + 1, wide_chunk + 1},
        shape{9, 3, 3 * wide_chunk, 2 * wide_chunk, 3 * wide_chunk}}) {
    CAPTURE(m, n, k, used, most);
    problem<T> const before{m, n, k};
    auto after = before;
    after.run(typename TestType::backend(), used, most);
    check(before, after, used, tolerance);
  }
}

TEST_CASE("products with a wide matrix give the same bits whatever the threads") {
  for (index_t used : {wide_chunk - 1, 3 * wide_chunk + 5}) {
    problem<float> one{5, 7, 3 * wide_chunk + 9}, two = one, three = one;
    one.run(cpu::backend(1), used, used);
    two.run(cpu::backend(2), used, used);
    three.run(cpu::backend(3), used, used);
    CHECK(one.y == two.y);
    CHECK(one.dx == two.dx);
    CHECK(one.y == three.y);
    CHECK(one.dx == three.dx);
  }
}

TEST_CASE("more columns than a wide matrix was laid out for are refused with a sentence") {
  problem<float> p{1, 2, 8};
  CHECK_NOTHROW(p.run(cpu::backend(1), 4, 4));
  CHECK_THROWS_WITH(p.run(cpu::backend(1), 5, 4), test::contains("wide_matmul: used is 5, expected 1 to 4"));
  CHECK_THROWS_WITH(p.run(cpu::backend(1), 9, 9), test::contains("lay_out_wide: used is 9, expected 1 to 8"));
}

}  // namespace ops_wide_matmul_tests
