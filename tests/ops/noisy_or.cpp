// Tests the noisy or over the tokens of a sentence, for relations of pairs, labels of nodes and labels of graphs.
// Every backend must equal the reference, and the gradient must equal finite differences.  Also tests probabilities of
// 0 and 1, and very small ones.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/noisy_or.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_noisy_or_tests {

using namespace triad;
using test::WithinAbs;
using test::WithinRel;

/// Returns random probabilities that a float stores exactly.
template <class T>
std::vector<T> probabilities(index_t count, std::uint64_t stream, T least = T(0.02), T most = T(0.9)) {
  auto v = test::random_values<T>(count, stream);
  for (auto& x : v) x = static_cast<T>(static_cast<float>(least + (most - least) * (x + 1) / 2));
  return v;
}

// The roles of the problem are columns of a matrix (cells, 3), as one product writes them. Relations read the first two
// columns, and labels the last.
template <class T>
struct problem {
  test::ragged_grids grids;
  index_t roles, labels, sums;
  std::vector<T> p, role, s, ds, dp, drole;

  problem(std::vector<std::pair<index_t, index_t>> const& sizes, index_t role_count, index_t label_count)
      : grids(sizes),
        roles(role_count),
        labels(label_count),
        sums(roles > 1   ? grids.dims.pairs
             : roles > 0 ? grids.dims.columns
                         : grids.dims.graphs),
        p(probabilities<T>(grids.dims.rows * labels, 1)),
        role(probabilities<T>(grids.dims.cells * 3, 2)),
        s(static_cast<std::size_t>(sums * labels), T(7)),
        ds(test::random_values<T>(sums * labels, 3)),
        dp(p.size(), T(7)),
        drole(role.size(), T(7)) {}

  template <class S>
  matrix<S> of_p(S* data) const {
    return make_matrix(data, grids.dims.rows, labels, labels);
  }
  template <class S>
  matrix<S> of_role(S* data) const {
    if (roles == 0) return no_matrix<S>();
    return make_matrix(data + (roles > 1 ? 0 : 2), grids.dims.cells, roles, 3);
  }
  template <class S>
  matrix<S> of_s(S* data) const {
    return make_matrix(data, sums, labels, labels);
  }
  template <class Ex>
  void forward(Ex& ex) {
    T const *const from_p = p.data(), *const from_role = role.data();
    noisy_or(ex, grids.batch(), of_p(from_p), of_role(from_role), of_s(s.data()));
  }
  template <class Ex>
  void backward(Ex& ex) {
    T const *const from_p = p.data(), *const from_role = role.data(), *const from_ds = ds.data();
    noisy_or_grad(ex, grids.batch(), of_p(from_p), of_role(from_role), of_s(from_ds), of_p(dp.data()),
                  of_role(drole.data()));
  }
  /// Calls f(x) for each token of sum `at` and column r.
  template <class F>
  void each_factor(index_t at, index_t r, F&& f) const {
    auto const batch = grids.batch();
    T const* const from_role = role.data();
    for (index_t graph = 0; graph < grids.dims.graphs; ++graph) {
      noisy_or_grid<T> const grid(batch, graph, of_role(from_role));
      if (at < grid.first || at >= grid.first + grid.sums()) continue;
      for (index_t t = 0; t < grid.rows; ++t) {
        auto const k = at - grid.first;
        f(noisy_or_kappa * static_cast<double>(grid.weight(t, k / grid.inner, k % grid.inner)) *
          static_cast<double>(p[static_cast<std::size_t>((grid.row + t) * labels + r)]));
      }
    }
  }
};

std::vector<std::pair<index_t, index_t>> const uneven{{3, 2}, {1, 1}, {0, 3}, {13, 8}, {4, 0}, {40, 5}, {7, 3}};

TEMPLATE_TEST_CASE("noisy or equals the reference on every backend", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  reference::backend specification;
  double const close = std::is_same_v<T, float> ? 1e-6 : 1e-14;
  for (index_t roles : {0, 1, 2})
    for (index_t labels : {0, 1, 16, 38, 147}) {
      if (test::is_device<decltype(ex)> && labels > 38) continue;
      CAPTURE(roles, labels);
      problem<double> exact(uneven, roles, labels);
      problem<T> found(uneven, roles, labels);
      exact.forward(specification), exact.backward(specification);
      found.forward(ex), found.backward(ex);
      for (std::size_t i = 0; i < exact.s.size(); ++i) {
        // The rounding error of x becomes larger by the factor x / (1 - x) in log(1 - x).
        double allowed = close * std::abs(exact.s[i]);
        exact.each_factor(static_cast<index_t>(i) / labels, static_cast<index_t>(i) % labels,
                          [&](double x) { allowed += close * x / (1 - x); });
        CAPTURE(i, exact.s[i], found.s[i]);
        REQUIRE_THAT(static_cast<double>(found.s[i]), WithinAbs(exact.s[i], allowed));
      }
      CHECK(test::distance(found.dp, exact.dp) < 10 * close);
      CHECK(test::distance(found.drole, exact.drole) < 10 * close);
    }
}

TEMPLATE_TEST_CASE("the gradient of noisy or is that of finite differences", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (index_t roles : {0, 1, 2}) {
    CAPTURE(roles);
    problem<double> p({{3, 2}, {1, 1}, {9, 4}}, roles, 5);
    auto const put = [&](variables const& v) {
      p.p = v[0].values;
      if (roles > 0) p.role = v[1].values;
    };
    variables start{{"p", p.p}};
    if (roles > 0) start.push_back({"role", p.role});
    auto const report = gradient_check(
        start,
        [&](variables const& v) {
          put(v);
          p.forward(ex);
          double sum = 0;
          for (std::size_t i = 0; i < p.s.size(); ++i) sum += p.s[i] * p.ds[i];
          return sum;
        },
        [&](variables const& v, variables& g) {
          std::fill(p.drole.begin(), p.drole.end(), 0.0);  // columns that are no role of this operation
          put(v);
          p.backward(ex);
          g[0].values = p.dp;
          if (roles > 0) g[1].values = p.drole;
        },
        {.directions = 4, .elements = 40});
    CHECK_GRADIENT(report);
  }
}

TEMPLATE_TEST_CASE("noisy or is finite at 0 and 1, and keeps the digits of very small probabilities", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  double const kappa = static_cast<double>(static_cast<T>(noisy_or_kappa)), close = sizeof(T) == 4 ? 1e-6 : 1e-14;
  for (index_t tokens : {1, 6, 7, 40}) {
    problem<T> all({{tokens, 2}}, 2, 38);
    auto const n = static_cast<double>(tokens);
    auto const expect = [&](T p, T role, double sum, double dp, double drole, double within) {
      CAPTURE(tokens, p, role);
      std::fill(all.p.begin(), all.p.end(), p);
      std::fill(all.role.begin(), all.role.end(), role);
      std::fill(all.ds.begin(), all.ds.end(), T(1));
      all.forward(ex), all.backward(ex);
      for (T const s : all.s) REQUIRE_THAT(static_cast<double>(s), WithinAbs(sum, within * std::abs(sum)));
      for (T const d : all.dp) REQUIRE_THAT(static_cast<double>(d), WithinAbs(dp, within * std::abs(dp)));
      for (std::size_t i = 0; i < all.drole.size(); ++i)
        if (i % 3 != 2) REQUIRE_THAT(static_cast<double>(all.drole[i]), WithinAbs(drole, within * std::abs(drole)));
    };
    // Each p is in the sums of 4 pairs, and each role is in the sums of 2 pairs and 38 relations.
    double const slope = kappa / (1 - kappa);
    expect(1, 1, n * std::log1p(-kappa), -4 * slope, -2 * 38 * slope, close);
    // A mixture of roles can be above 1 by rounding. It counts as 1, and the slope of the other role has its factor.
    T const above = static_cast<T>(1.0000002f);
    expect(1, above, n * std::log1p(-kappa), -4 * slope, -2 * 38 * slope * static_cast<double>(above), close);
    expect(0, 1, 0, -4 * kappa, 0, close);
    expect(1, 0, 0, 0, 0, close);
    expect(0, 0, 0, 0, 0, close);
    double const small = static_cast<double>(static_cast<T>(1e-8));
    expect(static_cast<T>(small), 1, -n * small, -4 * kappa, -2 * 38 * small, 2e-6);
    expect(1, static_cast<T>(1e-4), -n * static_cast<double>(static_cast<T>(1e-4) * static_cast<T>(1e-4)),
           -4 * static_cast<double>(static_cast<T>(1e-4) * static_cast<T>(1e-4)),
           -2 * 38 * static_cast<double>(static_cast<T>(1e-4)), 2e-6);
  }
}

TEMPLATE_TEST_CASE("one certain token decides, and the others still have slopes", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  double const kappa = static_cast<double>(static_cast<T>(noisy_or_kappa));
  problem<T> p({{9, 3}}, 1, 20);
  for (std::size_t i = 0; i < p.p.size(); ++i) p.p[i] = i / 20 == 4 ? T(1) : T(1e-6);
  std::fill(p.role.begin(), p.role.end(), T(1));
  std::fill(p.ds.begin(), p.ds.end(), T(1));
  p.forward(ex), p.backward(ex);
  for (T const s : p.s) CHECK_THAT(static_cast<double>(s), WithinRel(std::log1p(-kappa) - 8e-6, 1e-6));
  for (std::size_t i = 0; i < p.dp.size(); ++i)
    CHECK_THAT(static_cast<double>(p.dp[i]), WithinRel(i / 20 == 4 ? -3 * kappa / (1 - kappa) : -3.0, 1e-5));
}

TEMPLATE_TEST_CASE("with one token, noisy or is the product of its probabilities", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p({{1, 4}}, 2, 3);
  p.forward(ex);
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t r = 0; r < 3; ++r)
        CHECK_THAT(-std::expm1(p.s[(a * 4 + c) * 3 + r]),
                   WithinAbs(noisy_or_kappa * p.role[a * 3] * p.role[c * 3 + 1] * p.p[r], 1e-14));
}

TEST_CASE("noisy or has the same bits for every number of threads, and for columns of a transposed matrix") {
  for (index_t roles : {0, 1, 2}) {
    CAPTURE(roles);
    problem<float> one(uneven, roles, 38), three(uneven, roles, 38);
    cpu::backend alone(1), together(3);
    one.forward(alone), one.backward(alone);
    three.forward(together), three.backward(together);
    CHECK(one.s == three.s);
    CHECK(one.dp == three.dp);
    CHECK(one.drole == three.drole);
    // All matrices transposed: no row is contiguous.
    std::vector<float> p(one.p.size()), s(one.s.size()), dp(one.dp.size()), ds(one.ds.size());
    auto const turned = [&](auto* data, index_t rows) { return make_matrix(data, rows, 38, index_t{1}, rows); };
    index_t const rows = one.grids.dims.rows;
    for (index_t r = 0; r < rows; ++r)
      for (index_t c = 0; c < 38; ++c) turned(p.data(), rows)(r, c) = one.p[static_cast<std::size_t>(r * 38 + c)];
    for (index_t r = 0; r < one.sums; ++r)
      for (index_t c = 0; c < 38; ++c) turned(ds.data(), one.sums)(r, c) = one.ds[static_cast<std::size_t>(r * 38 + c)];
    float const *const from_p = p.data(), *const from_ds = ds.data(), *const from_role = one.role.data();
    noisy_or(alone, one.grids.batch(), turned(from_p, rows), one.of_role(from_role), turned(s.data(), one.sums));
    noisy_or_grad(alone, one.grids.batch(), turned(from_p, rows), one.of_role(from_role), turned(from_ds, one.sums),
                  turned(dp.data(), rows), three.of_role(three.drole.data()));
    for (index_t r = 0; r < one.sums; ++r)
      for (index_t c = 0; c < 38; ++c)
        CHECK_THAT(turned(s.data(), one.sums)(r, c),
                   WithinAbs(static_cast<double>(one.s[static_cast<std::size_t>(r * 38 + c)]), 1e-4));
    for (index_t r = 0; r < rows; ++r)
      for (index_t c = 0; c < 38; ++c)
        CHECK_THAT(turned(dp.data(), rows)(r, c),
                   WithinAbs(static_cast<double>(one.dp[static_cast<std::size_t>(r * 38 + c)]), 1e-4));
    for (std::size_t i = 0; i < one.drole.size(); ++i)
      CHECK_THAT(three.drole[i], WithinAbs(static_cast<double>(one.drole[i]), 1e-3));
  }
}

TEST_CASE("noisy or refuses shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p({{3, 2}, {2, 2}}, 2, 4);
  double const *const from_p = p.p.data(), *const from_role = p.role.data();
  auto const run = [&](index_t rows, index_t cells, index_t roles, index_t sums) {
    noisy_or(ex, p.grids.batch(), make_matrix(from_p, rows, 4, 4), make_matrix(from_role, cells, roles, 3),
             make_matrix(p.s.data(), sums, 4, 4));
  };
  CHECK_THROWS_WITH(run(4, 10, 2, 8), test::contains("noisy_or: 4 rows of p, expected 5"));
  CHECK_THROWS_WITH(run(5, 9, 2, 8), test::contains("noisy_or: 9 rows of role, expected 10"));
  CHECK_THROWS_WITH(run(5, 10, 3, 8), test::contains("noisy_or: role has 3 columns, expected 0, 1 or 2"));
  CHECK_THROWS_WITH(run(5, 10, 2, 7), test::contains("noisy_or: s is (7, 4), expected (8, 4)"));
  CHECK_THROWS_WITH(run(5, 10, 1, 8), test::contains("noisy_or: s is (8, 4), expected (4, 4)"));
  CHECK_THROWS_WITH(run(5, 0, 0, 8), test::contains("noisy_or: s is (8, 4), expected (2, 4)"));
  CHECK_THROWS_WITH(noisy_or_grad(ex, p.grids.batch(), p.of_p(from_p), p.of_role(from_role),
                                  make_matrix<double const>(p.ds.data(), 8, 4, 4), make_matrix(p.dp.data(), 5, 3, 4),
                                  p.of_role(p.drole.data())),
                    test::contains("noisy_or_grad: dp is (5, 3), expected (5, 4)"));
}

}  // namespace ops_noisy_or_tests
