// Tests the cross entropy and the argmax of rows: the formulas, smoothed targets, and the same values on every backend.
// Compares gradients with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/cross_entropy.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_cross_entropy_tests {

using namespace triad;
using triad::test::contains;
using triad::test::is_device;
using triad::test::random_values;
using triad::test::WithinAbs;
using triad::test::WithinRel;

// The tolerance allows for rounding, in precision T, in sums of up to a thousand terms of size one.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;

template <class T>
tensor<T, dyn, dyn> rows_of(std::vector<T>& v, index_t rows, index_t columns) {
  return tensor<T, dyn, dyn>(v.data(), rows, columns);
}
template <class T>
tensor<T const, dyn, dyn> rows_of(std::vector<T> const& v, index_t rows, index_t columns) {
  return tensor<T const, dyn, dyn>(v.data(), rows, columns);
}

/// Returns the loss, followed by the gradient.
template <class T, class Ex>
std::vector<T> losses(Ex& ex, std::vector<T> const& logits, std::vector<index_t> const& target,
                      label_smoothing smoothing = {}) {
  auto const rows = static_cast<index_t>(target.size()), v = static_cast<index_t>(logits.size()) / rows;
  std::vector<T> found(logits.size() + 1, T(99));
  cross_entropy(ex, rows_of(logits, rows, v), make_vec<index_t const>(target.data(), rows), make_vec(found.data(), 1),
                tensor<T, dyn, dyn>(found.data() + 1, rows, v), smoothing);
  return found;
}

TEMPLATE_TEST_CASE("cross entropy is the mean of what the rows with a target lose, and its gradient is its value's", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  constexpr index_t rows = 9, v = 5;
  std::vector<index_t> target{0, 4, -1, 2, 2, -100, 1, 0, 3};
  auto const logits = random_values(rows * v, 1, 3);
  for (double epsilon : {0.0, 0.1, 0.9}) {
    CAPTURE(epsilon);
    double nll = 0, smooth = 0;
    for (std::size_t r = 0; r < 9; ++r) {
      if (target[r] < 0) continue;
      double z = 0;
      for (std::size_t c = 0; c < 5; ++c) z += std::exp(logits[r * 5 + c]);
      nll += std::log(z) - logits[r * 5 + static_cast<std::size_t>(target[r])];
      for (std::size_t c = 0; c < 5; ++c) smooth += std::log(z) - logits[r * 5 + c];
    }
    double const e = epsilon / 4;
    auto const found = losses(ex, logits, target, {epsilon});
    CHECK_THAT(found[0], WithinRel(((1 - epsilon - e) * nll + e * smooth) / 7, 1e-12));
    for (std::size_t c = 1; c <= 5; ++c) CHECK((found[10 + c] == 0 && found[25 + c] == 0));
    CHECK_GRADIENT(gradient_check(
        {{"logits", logits}}, [&](variables const& at) { return losses(ex, at[0].values, target, {epsilon})[0]; },
        [&](variables const& at, variables& g) {
          auto const both = losses(ex, at[0].values, target, {epsilon});
          g[0].values.assign(both.begin() + 1, both.end());
        }));
    CHECK(losses(ex, logits, std::vector<index_t>(9, -1), {epsilon}) == std::vector<double>(46, 0.0));
    CHECK(std::isfinite(losses(ex, std::vector<double>(45, 1e300), target, {epsilon})[0]));
  }
  target[3] = 5;
  if constexpr (is_device<TestType>)
    CHECK(std::isnan(losses(ex, logits, target)[0]));
  else
    CHECK_THROWS_WITH(losses(ex, logits, target), contains("the target of row 3 is 5, expected a class below 5"));
}

TEMPLATE_TEST_CASE("a smoothed loss is the plain losses of all classes in the shares that smoothing gives them", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t v : {2, 3, 17, 300}) {
    CAPTURE(v);
    auto const logits = random_values<T>(v, 1, 4);
    index_t const target = v / 2;
    label_smoothing const smoothing{0.3};
    std::vector<double> expected(static_cast<std::size_t>(v + 1));
    for (index_t c = 0; c < v; ++c) {
      auto const alone = losses(ex, logits, {c});
      double const share = c == target ? 0.7 : 0.3 / static_cast<double>(v - 1);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += share * static_cast<double>(alone[i]);
    }
    auto const found = losses(ex, logits, {target}, smoothing);
    double sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK_THAT(found[i], WithinAbs(expected[i], 5 * tolerance<T>));
    for (std::size_t i = 1; i < found.size(); ++i) sum += static_cast<double>(found[i]);
    CHECK_THAT(sum, WithinAbs(0, tolerance<T>));
    CHECK(losses(ex, logits, {target}, {0}) == losses(ex, logits, {target}));
  }
}

TEMPLATE_TEST_CASE("rows of every width and number lose what the reference says in double", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  reference::backend plain;
  struct shape {
    index_t rows, v;
  };
  for (auto const z :
       {shape{1, 1}, {7, 1}, {5, 2}, {300, 4}, {33, 16}, {70, 17}, {9, 63}, {3, 256}, {3, 257}, {4, 1000}})
    for (double epsilon : {0.0, 0.1}) {
      if (epsilon > 0 && z.v == 1) continue;
      CAPTURE(z.rows, z.v, epsilon);
      auto const logits = random_values<T>(z.rows * z.v, 2, 6);
      std::vector<index_t> target;
      for (index_t r = 0; r < z.rows; ++r) target.push_back(r % 4 == 1 ? -1 : r * 7 % z.v);
      auto const found = losses(ex, logits, target, {epsilon});
      auto const expected = losses(plain, std::vector<double>(logits.begin(), logits.end()), target, {epsilon});
      CHECK_THAT(found[0], WithinRel(expected[0], tolerance<T>) || WithinAbs(expected[0], tolerance<T>));
      for (std::size_t i = 1; i < found.size(); ++i) REQUIRE_THAT(found[i], WithinAbs(expected[i], tolerance<T>));
      // In these views, neighbouring columns are not adjacent in memory.
      std::vector<T> turned(logits.size()), dturned(logits.size());
      auto const x = make_matrix(turned.data(), z.rows, z.v, index_t{1}, z.rows),
                 dx = make_matrix(dturned.data(), z.rows, z.v, index_t{1}, z.rows);
      for (index_t r = 0; r < z.rows; ++r)
        for (index_t c = 0; c < z.v; ++c) x(r, c) = rows_of(logits, z.rows, z.v)(r, c);
      T loss = 0;
      cross_entropy(ex, x, make_vec<index_t const>(target.data(), z.rows), make_vec(&loss, 1), dx, {epsilon});
      CHECK_THAT(loss, WithinAbs(static_cast<double>(found[0]), 10 * tolerance<T>));
      for (index_t r = 0; r < z.rows; ++r)
        for (index_t c = 0; c < z.v; ++c)
          REQUIRE_THAT(dx(r, c), WithinAbs(expected[static_cast<std::size_t>(1 + r * z.v + c)], tolerance<T>));
    }
}

TEMPLATE_TEST_CASE("classes that are masked cost a plain loss nothing, and a score that is none shows in the loss", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  T const masked = -std::numeric_limits<T>::infinity();
  std::vector<T> logits(40, T(2));
  for (std::size_t c = 0; c < 40; c += 2) logits[c] = masked;
  auto const found = losses(ex, logits, {21});
  CHECK_THAT(found[0], WithinAbs(std::log(20.0), tolerance<T>));
  CHECK(found[1] == 0);
  CHECK_THAT(found[2], WithinAbs(0.05, tolerance<T>));
  CHECK_THAT(found[22], WithinAbs(-0.95, tolerance<T>));
  CHECK(losses(ex, logits, {21}, {0.1})[0] == std::numeric_limits<T>::infinity());
  for (std::size_t c : {0u, 5u, 39u}) {
    auto wrong = logits;
    wrong[c] = std::numeric_limits<T>::quiet_NaN();
    CHECK(std::isnan(losses(ex, wrong, {21})[0]));
    CHECK(std::isnan(losses(ex, wrong, {21}, {0.1})[0]));
  }
}

TEST_CASE("losses have the same bits for one, two and three threads") {
  struct shape {
    index_t rows, v;
  };
  for (auto const z : {shape{3000, 37}, {40, 10001}, {1, 5}}) {
    auto const logits = random_values<float>(z.rows * z.v, 3, 5);
    std::vector<index_t> target;
    for (index_t r = 0; r < z.rows; ++r) target.push_back(r % 5 == 3 ? -1 : r * 11 % z.v);
    auto const run = [&](int threads) {
      cpu::backend ex(threads);
      return losses(ex, logits, target, {0.1});
    };
    auto const one = run(1);
    CHECK(std::isfinite(one[0]));
    CHECK(one == run(2));
    CHECK(one == run(3));
  }
}

TEMPLATE_TEST_CASE("argmax takes the first of the largest, and none where one is NaN", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::vector<T> const x{T(1), T(3), T(3), T(-2), T(-1), T(-3), T(5), T(5), T(5)};
  std::vector<index_t> best(3, 9);
  argmax_rows(ex, rows_of(x, 3, 3), make_vec(best.data(), 3));
  CHECK(best == std::vector<index_t>{1, 1, 0});
  best.resize(1);
  for (index_t const columns : {1, 3, 40})
    for (index_t at = 0; at < columns; ++at) {
      CAPTURE(columns, at);
      auto row = random_values<T>(columns, 1);
      row[static_cast<std::size_t>(at)] = -std::numeric_limits<T>::infinity();
      argmax_rows(ex, rows_of(row, 1, columns), make_vec(best.data(), 1));
      CHECK((best[0] >= 0 && (columns == 1 || best[0] != at)));
      row[static_cast<std::size_t>(at)] = std::numeric_limits<T>::quiet_NaN();
      argmax_rows(ex, rows_of(row, 1, columns), make_vec(best.data(), 1));
      CHECK(best[0] == -1);
    }
}

TEST_CASE("losses of what does not fit are refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(6);
  std::vector<index_t> index(3);
  double loss = 0;
  auto const m = [&](index_t r, index_t c) { return rows_of(v, r, c); };
  auto const i = [&](index_t n) { return make_vec<index_t const>(index.data(), n); };
  auto const l = make_vec(&loss, 1);
  CHECK_THROWS_WITH(cross_entropy(ex, m(2, 3), i(2), l, m(3, 2)), contains("dlogits is (3, 2), expected (2, 3)"));
  CHECK_THROWS_WITH(cross_entropy(ex, m(2, 3), i(3), l, m(2, 3)), contains("target is (3), expected (2)"));
  CHECK_THROWS_WITH(cross_entropy(ex, m(2, 3), i(2), make_vec(&loss, 0), m(2, 3)),
                    contains("loss is (0), expected (1)"));
  for (double epsilon : {-0.1, 1.0, std::nan("")})
    CHECK_THROWS_WITH(cross_entropy(ex, m(2, 3), i(2), l, m(2, 3), {epsilon}),
                      contains("expected at least 0 and below 1"));
  CHECK_THROWS_WITH(cross_entropy(ex, m(3, 1), i(3), l, m(3, 1), {0.1}),
                    contains("label smoothing with 1 classes, expected 2 or more"));
  CHECK_THROWS_WITH(argmax_rows(ex, m(2, 3), make_vec(index.data(), 3)), contains("best is (3), expected (2)"));
}

}  // namespace ops_cross_entropy_tests
