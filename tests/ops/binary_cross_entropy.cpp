// Tests the cross entropy of several labels at once, from logits and from logarithms of 1 - P: its definition, labels
// that are not counted, and its ends.  Compares the gradient with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/binary_cross_entropy.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_binary_cross_entropy_tests {

using namespace triad;
using test::WithinAbs;
using test::WithinRel;

constexpr probability_form forms[] = {probability_form::logits, probability_form::log_misses};

// x and dx are columns 3 and following of wider matrices.
template <class T>
struct problem {
  probability_form form;
  index_t rows, labels, width = labels + 5;
  std::vector<T> x, dx;
  std::vector<std::uint8_t> target;
  T scale = T(0.3), loss = T(99);

  problem(probability_form f, index_t r, index_t l)
      : form(f), rows(r), labels(l), x(test::random_values<T>(r * width, 1, 4)), dx(x.size(), T(7)) {
    if (form == probability_form::log_misses)
      for (T& v : x) v = (v - T(4)) / T(2);  // in [-4, 0]
    // Three quarters of the labels are absent, and some are not counted.
    for (index_t i = 0; i < rows * labels; ++i)
      target.push_back(i % 4 != 1 ? std::uint8_t{0} : i % 3 == 0 ? std::uint8_t{255} : std::uint8_t{1});
  }
  template <class Ex>
  void run(Ex& ex) {
    test::with_scratch(ex, {}, [&](auto& on, call const& c) {
      T const* const from = x.data();
      binary_cross_entropy(on, *c.scratch, form, make_matrix(from + 3, rows, labels, width),
                           make_matrix<std::uint8_t const>(target.data(), rows, labels, labels),
                           make_vec<T const>(&scale, 1), make_vec(&loss, 1),
                           make_matrix(dx.data() + 3, rows, labels, width));
    });
  }
  double given(index_t r, index_t c) const {
    return static_cast<double>(x[static_cast<std::size_t>(r * width + 3 + c)]);
  }
};

TEMPLATE_TEST_CASE("the loss of labels is that of its definition, and only labels are written", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  double const close = sizeof(T) == 4 ? 2e-6 : 1e-12;  // of up to 40,000 terms, added in different orders
  struct shape {
    index_t rows, labels;
  };
  for (auto const form : forms)
    for (auto const& [rows, labels] :
         {shape{0, 3}, {3, 0}, {1, 1}, {5, 16}, {64, 38}, {7, 67}, {900, 38}, {2, 20000}}) {
      if (test::is_device<decltype(ex)> && rows * labels > 10000) continue;
      CAPTURE(static_cast<int>(form), rows, labels);
      problem<T> p(form, rows, labels);
      problem<double> same(form, rows, labels);
      p.run(ex);
      double expected = 0;
      std::vector<double> d(p.dx.size(), 7);
      for (index_t r = 0; r < rows; ++r)
        for (index_t c = 0; c < labels; ++c) {
          auto const t = p.target[static_cast<std::size_t>(r * labels + c)];
          auto& slope = d[static_cast<std::size_t>(r * p.width + 3 + c)];
          slope = 0;
          if (t > 1) continue;
          bool const yes = t == 1, logits = form == probability_form::logits;
          double const x = p.given(r, c), miss = logits ? 1 / (1 + std::exp(x)) : std::exp(x - 1e-7),
                       hit = logits ? 1 / (1 + std::exp(-x)) : -std::expm1(x - 1e-7);
          expected -= std::log(yes ? hit : miss);
          double const to_logit = yes ? -miss : hit;
          slope = 0.3 * (logits ? to_logit : -to_logit / hit);  // the derivative of the logit by s is -1 / P
        }
      CHECK_THAT(static_cast<double>(p.loss), WithinAbs(0.3 * expected, close * (1 + 0.3 * expected)));
      if (rows * labels > 0) CHECK(test::distance(p.dx, d) < close);
      reference::backend specification;
      same.run(specification);
      CHECK_THAT(static_cast<double>(p.loss), WithinAbs(same.loss, close * (1 + same.loss)));
      CHECK(test::distance(p.dx, same.dx) < close);
    }
}

TEMPLATE_TEST_CASE("the gradient of the loss of labels is that of finite differences", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto const form : forms) {
    CAPTURE(static_cast<int>(form));
    problem<double> p(form, 6, 21);
    auto const report = gradient_check(
        {{"x", p.x}},
        [&](variables const& v) {
          p.x = v[0].values;
          p.run(ex);
          return p.loss;
        },
        [&](variables const& v, variables& g) {
          p.x = v[0].values;
          p.dx.assign(p.dx.size(), 0.0);  // columns that are no labels
          p.run(ex);
          g[0].values = p.dx;
        },
        {.directions = 4, .elements = 60});
    CHECK_GRADIENT(report);
  }
}

TEMPLATE_TEST_CASE("the loss of labels is finite wherever it should be", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  auto const ask = [&](probability_form form, double x, std::uint8_t target, double loss, double slope) {
    CAPTURE(static_cast<int>(form), x, static_cast<int>(target));
    problem<T> p(form, 1, 20);  // a vector and a part of one
    p.scale = T(1) / 20;
    p.x.assign(p.x.size(), static_cast<T>(x));
    p.target.assign(p.target.size(), target);
    p.run(ex);
    double const close = sizeof(T) == 4 ? 1e-5 : 1e-12;  // exp in vectors has an error of 6e-6 at -60
    CHECK_THAT(static_cast<double>(p.loss), WithinAbs(loss, close * std::abs(loss)));
    for (index_t c = 0; c < 20; ++c)
      REQUIRE_THAT(20 * static_cast<double>(p.dx[static_cast<std::size_t>(3 + c)]),
                   WithinAbs(slope, close * std::abs(slope)));
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  using enum probability_form;
  for (double const x : {60.0, 1000.0, inf}) {
    // At 60 the sigmoid is 1 - 9e-27, so the loss of the right answer is exp(-60).
    double const rest = std::exp(-x);
    ask(logits, x, 1, rest, -rest);
    ask(logits, -x, 0, rest, rest);
    if (x == inf) continue;
    ask(logits, x, 0, x, 1);
    ask(logits, -x, 1, x, -1);
    ask(log_misses, -x, 1, std::exp(-x - 1e-7), std::exp(-x - 1e-7));
    ask(log_misses, -x, 0, x + 1e-7, -1);
  }
  double const tiny = static_cast<double>(static_cast<T>(1e-7));
  ask(log_misses, 0, 1, -std::log(-std::expm1(-tiny)), 1 / std::expm1(tiny));
  ask(log_misses, 0, 0, tiny, -1);
  ask(log_misses, -1e-3, 1, -std::log(-std::expm1(-1e-3 - 1e-7)), 1 / std::expm1(1e-3 + 1e-7));
  ask(logits, inf, 7, 0, 0);
  ask(log_misses, inf, 7, 0, 0);
}

TEMPLATE_TEST_CASE("an uncounted label may be NaN, and a counted NaN is in the loss", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto const form : forms)
    for (bool const counted : {false, true}) {
      CAPTURE(static_cast<int>(form), counted);
      problem<T> p(form, 2, 19);
      p.x[3 + 17] = std::numeric_limits<T>::quiet_NaN();
      p.target[17] = counted ? 1 : 2;
      p.run(ex);
      CHECK(std::isnan(p.loss) == counted);
      CHECK((counted ? std::isnan(p.dx[3 + 17]) : p.dx[3 + 17] == 0));
      for (std::size_t c = 0; c < 17; ++c) CHECK(std::isfinite(p.dx[3 + c]));
    }
}

TEST_CASE("the loss of labels has the same bits for every number of threads, and its value for every stride") {
  for (auto const form : forms) {
    CAPTURE(static_cast<int>(form));
    problem<float> one(form, 3000, 38), three(form, 3000, 38);
    cpu::backend alone(1), together(3);
    one.run(alone), three.run(together);
    CHECK(one.loss == three.loss);
    CHECK(one.dx == three.dx);
    std::vector<float> dx(one.dx.size(), 7.0f);
    float loss = 0;
    test::with_scratch(alone, {}, [&](auto& on, call const& c) {
      float const* const from = one.x.data();
      binary_cross_entropy(
          on, *c.scratch, form, transposed(make_matrix(from + 3, 3000, 38, one.width)),
          matrix<std::uint8_t const>(transposed(make_matrix<std::uint8_t const>(one.target.data(), 3000, 38, 38))),
          make_vec<float const>(&one.scale, 1), make_vec(&loss, 1),
          transposed(make_matrix(dx.data() + 3, 3000, 38, one.width)));
    });
    CHECK_THAT(loss, WithinRel(static_cast<double>(one.loss), 1e-4));
    CHECK(test::distance(dx, std::vector<double>(one.dx.begin(), one.dx.end())) < 1e-6);
  }
}

TEST_CASE("the loss of labels refuses shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p(probability_form::logits, 3, 4);
  auto const run = [&](index_t target_rows, index_t columns) {
    test::with_scratch(ex, {}, [&](auto& on, call const& c) {
      binary_cross_entropy(on, *c.scratch, p.form, make_matrix<double const>(p.x.data(), 3, 4, 4),
                           make_matrix<std::uint8_t const>(p.target.data(), target_rows, 4, 4),
                           make_vec<double const>(&p.scale, 1), make_vec(&p.loss, 1),
                           make_matrix(p.dx.data(), 3, columns, 4));
    });
  };
  CHECK_THROWS_WITH(run(2, 4), test::contains("binary_cross_entropy: target is (2, 4), expected (3, 4)"));
  CHECK_THROWS_WITH(run(3, 3), test::contains("binary_cross_entropy: dx is (3, 3), expected (3, 4)"));
}

}  // namespace ops_binary_cross_entropy_tests
