// Tests the loss of trees: rows that are right or empty, and the symbols of rows. Compares the gradient with finite
// differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/tree_loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"

namespace ops_tree_loss_tests {

using namespace triad;

template <class T>
struct problem {
  index_t rows, symbols;
  std::vector<T> x, dx;
  std::vector<index_t> target, decoded;
  T loss = 0;
  tree_loss_options options{};

  problem(index_t r, index_t v)
      : rows(r), symbols(v), x(test::random_values<T>(r * v, 1)), dx(x.size()), decoded(static_cast<std::size_t>(r)) {
    for (index_t i = 0; i < r; ++i) target.push_back(i % 3 == 0 ? 0 : i % (v - 1) + 1);
  }
  template <class Ex>
  T run(Ex&& ex) {
    test::with_scratch(ex, call{}, [&](auto& any, call const& c) {
      tree_loss(any, *c.scratch, make_matrix<T const>(x.data(), rows, symbols, symbols),
                make_vec<index_t const>(target.data(), rows), make_vec(&loss, 1),
                make_matrix(dx.data(), rows, symbols, symbols), options);
    });
    return loss;
  }
  template <class Ex>
  void decode(Ex&& ex, double threshold) {
    decode_rows(ex, make_matrix<T const>(x.data(), rows, symbols, symbols), threshold, make_vec(decoded.data(), rows));
  }
};

TEMPLATE_TEST_CASE("the gradient of the loss of trees is that of finite differences", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (auto const& options : {tree_loss_options{},
                              {tree_distance::squared, 1e-3, 0.25},
                              {tree_distance::divergence, 1e-3, 0},
                              {tree_distance::divergence, 0.2, 2}}) {
    CAPTURE(options.distance == tree_distance::squared, options.floor, options.empty_weight);
    problem<double> p(7, 37);
    p.options = options;
    for (index_t v = 0; v < 37; ++v)
      p.x[static_cast<std::size_t>(3 * 37 + v)] = v == 0 ? 1 : 0;  // empty and right, so its slope is 0
    auto const right = [&](index_t r) -> double& {
      return p.x[static_cast<std::size_t>(r * 37 + p.target[static_cast<std::size_t>(r)])];
    };
    right(1) = 0.6, right(2) = 0.05, right(4) = -0.3;  // above and below the larger floor, and below both floors
    (void)p.run(ex);
    auto const dx = p.dx;
    for (std::size_t i = 0; i < p.x.size(); ++i) {
      if (i / 37 == 3)
        CHECK(dx[i] == 0);
      else
        CHECK_THAT(dx[i], test::WithinAbs(test::derivative(
                                              p.x[i], [&] { return p.run(ex); }, 1e-6),
                                          1e-7 * std::max(1.0, std::abs(dx[i]))));
    }
  }
}

TEMPLATE_TEST_CASE("the slope of the divergence is a path's share of a right symbol, and the floor's below it", "",
                   TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  problem<double> p(3, 5);
  p.options = {tree_distance::divergence, 1e-3, 1};
  p.target = {1, 2, 3};
  p.x.assign(15, 0.0);
  double const scores[] = {1, 0.01, 1e-5};
  for (std::size_t r = 0; r < 3; ++r) p.x[r * 5 + r + 1] = scores[r];
  (void)p.run(ex);
  CHECK(p.dx[1] == 0);                                                // the symbol is right
  CHECK_THAT(p.dx[5 + 2] * 3 * 0.01, test::WithinAbs(-0.99, 1e-12));  // x (1 - 1 / x)
  CHECK_THAT(p.dx[10 + 3] * 3, test::WithinAbs(-999, 1e-9));          // the slope at the floor
  CHECK_THAT(p.loss * 3,
             test::WithinAbs((0.01 - 1 - std::log(0.01)) + (1e-3 - 1 - std::log(1e-3)) + (1e-5 - 1e-3) * -999, 1e-12));
}

TEMPLATE_TEST_CASE("the divergence is a number for every floor and score", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (double const floor : {1e-30, 1e-12, 1e-7, 0.4, 0.6, 1.0}) {
    problem<float> p(1, 3);
    p.options = {tree_distance::divergence, floor, 1};
    p.target = {1};
    p.x = {0, 0, 0};
    double const expected = (floor - 1 - std::log(floor)) - floor * (1 - 1 / floor);
    CHECK_THAT(static_cast<double>(p.run(ex)), test::WithinAbs(expected, 1e-5 * (1 + expected)));
  }
}

TEMPLATE_TEST_CASE("a weight of 0 leaves empty positions out of the loss", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  problem<double> p(6, 9);
  double const whole = p.run(ex);
  p.options.empty_weight = 0;
  double const filled = p.run(ex);
  double empties = 0;
  for (index_t r : {0, 3}) {
    double squares = 0;
    for (index_t v = 1; v < 9; ++v)
      squares += p.x[static_cast<std::size_t>(r * 9 + v)] * p.x[static_cast<std::size_t>(r * 9 + v)];
    empties += std::sqrt(squares);
    for (index_t v = 0; v < 9; ++v) CHECK(p.dx[static_cast<std::size_t>(r * 9 + v)] == 0);
  }
  CHECK_THAT(whole - filled, test::WithinAbs(empties / 6, 1e-12));
}

TEMPLATE_TEST_CASE("the right tree has no loss, whatever the column of the empty symbol holds", "",
                   TRIAD_TEST_BACKENDS) {
  problem<double> p(5, 9);
  for (index_t r = 0; r < 5; ++r)
    for (index_t v = 0; v < 9; ++v)
      p.x[static_cast<std::size_t>(r * 9 + v)] = v == 0 ? 0.5 : v == p.target[static_cast<std::size_t>(r)] ? 1 : 0;
  std::remove_cvref_t<TestType> ex;
  CHECK(p.run(ex) == 0);
  p.decode(ex, 0.01);
  CHECK(p.decoded == p.target);
}

TEMPLATE_TEST_CASE("a row under the threshold is empty, and so is one without a positive score", "",
                   TRIAD_TEST_BACKENDS) {
  problem<double> p(3, 4);
  p.x = {9, 0.006, 0.006, 0, 9, 0.009, 0.001, 0.008, 9, -1, -2, -3};
  std::remove_cvref_t<TestType> ex;
  p.decode(ex, 0.01);
  CHECK(p.decoded == std::vector<index_t>{0, 1, 0});
}

TEST_CASE("the loss of almost right trees keeps its digits on the cpu") {
  problem<float> p(60, 33);
  problem<double> exact(60, 33);
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    bool const right = static_cast<index_t>(i % 33) == p.target[i / 33] && i % 33 != 0;
    p.x[i] = (right ? 1.0f : 0.0f) + 1e-4f * p.x[i];
    exact.x[i] = static_cast<double>(p.x[i]);
  }
  for (std::size_t r = 0; r < p.target.size(); ++r) p.target[r] = exact.target[r] = p.target[r] == 0 ? 1 : p.target[r];
  for (std::size_t r = 0; r < p.target.size(); ++r)
    p.x[r * 33 + static_cast<std::size_t>(p.target[r])] = static_cast<float>(
        exact.x[r * 33 + static_cast<std::size_t>(p.target[r])] = 1 + 1e-4 * static_cast<double>(r % 7));
  for (std::size_t i = 0; i < p.x.size(); ++i) exact.x[i] = static_cast<double>(p.x[i]);
  (void)exact.run(reference::backend());
  (void)p.run(cpu::backend(2));
  CHECK(exact.loss > 0);
  CHECK(std::abs(static_cast<double>(p.loss) - exact.loss) < 1e-5 * exact.loss);
}

TEST_CASE("the loss of trees on the cpu equals the reference, whatever the threads") {
  for (auto const distance : {tree_distance::squared, tree_distance::divergence})
    for (index_t symbols : {2, 17, 101}) {
      problem<float> exact(600, symbols);
      exact.options = {distance, 1e-2, 0.5};
      auto one = exact, two = exact;
      exact.run(reference::backend());
      one.run(cpu::backend(1));
      two.run(cpu::backend(2));
      CHECK(one.loss == two.loss);
      CHECK(one.dx == two.dx);
      CHECK_THAT(one.loss, test::WithinAbs(exact.loss, 1e-5 * std::max(10.0f, exact.loss)));  // a sum over 600 rows
      double worst = 0;
      for (std::size_t i = 0; i < one.dx.size(); ++i)
        worst = test::worse(worst, std::abs(static_cast<double>(one.dx[i] - exact.dx[i])));
      CHECK(worst < (distance == tree_distance::squared ? 1e-8 : 1e-6));
    }
}

}  // namespace ops_tree_loss_tests
