// Tests Adam over a flat array, and clipping, on every backend.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/adam.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/rows.hpp"
#include "triad/cpu/cpu.hpp"

namespace ops_adam_tests {

using namespace triad;
using test::contains;
using test::random_values;
using test::tolerance;
using test::WithinAbs;
using test::WithinRel;

TEMPLATE_TEST_CASE("Adam over a long row makes the formula's steps, and clipping leaves a short gradient alone", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  index_t const n = 40001;  // three chunks
  adam_options const s{0.9, 0.98, 1e-8, 0.1, true};
  std::uint64_t const step = 4;
  double const rate = 0.01;
  auto p = random_values<T>(n, 1), m = random_values<T>(n, 3), v = random_values<T>(n, 4);
  for (auto& e : v) e = std::abs(e);
  auto const g = random_values<T>(n, 2), p0 = p, m0 = m, v0 = v;
  adam(ex, s, make_vec(&rate, 1), &step, make_vec(p.data(), n), make_vec(g.data(), n), make_vec(m.data(), n),
       make_vec(v.data(), n));
  for (std::size_t i : {0u, 1u, 16383u, 16384u, 40000u}) {
    double const m1 = 0.9 * static_cast<double>(m0[i]) + 0.1 * static_cast<double>(g[i]),
                 v1 = 0.98 * static_cast<double>(v0[i]) + 0.02 * static_cast<double>(g[i] * g[i]);
    double const after = static_cast<double>(p0[i]) * (1 - 0.01 * 0.1) -
                         0.01 / (1 - std::pow(0.9, 5)) * m1 / (std::sqrt(v1) / std::sqrt(1 - std::pow(0.98, 5)) + 1e-8);
    CHECK_THAT(p[i], WithinAbs(after, tolerance<T>));
    CHECK_THAT(m[i], WithinAbs(m1, tolerance<T>));
    CHECK_THAT(v[i], WithinAbs(v1, tolerance<T>));
  }
  T const length = T(2);
  auto clipped = g;
  clip(ex, 3, make_vec(&length, 1), make_vec(clipped.data(), n));
  CHECK(clipped == g);
  clip(ex, 1, make_vec(&length, 1), make_vec(clipped.data(), n));
  CHECK_THAT(clipped[40000], WithinRel(static_cast<double>(g[40000]) / (2 + 1e-6), tolerance<T>));
}

TEST_CASE("Adam and clipping of what does not fit are refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const n = [&](index_t size_of) { return make_vec(v.data(), size_of); };
  double const rate = 1;
  CHECK_THROWS_WITH(adam(ex, {}, make_vec(&rate, 1), nullptr, n(3), n(3), n(4), n(3)),
                    contains("adam: 4 values of the first moments, expected 3"));
  CHECK_THROWS_WITH(adam(ex, {}, make_vec(&rate, 0), nullptr, n(3), n(3), n(3), n(3)),
                    contains("adam: rate is (0), expected (1)"));
  CHECK_THROWS_WITH(clip(ex, 1, n(0), n(3)), contains("clip: norm is (0), expected (1)"));
}

}  // namespace ops_adam_tests
