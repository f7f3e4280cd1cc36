// Tests fuse-attention. It must equal attention over projected states of a token, although it does not project these
// states. Compares gradients with finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/fuse_attention.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"

namespace ops_fuse_attention_tests {

using namespace triad;

template <class T>
struct problem {
  index_t rows, layers, heads, d;
  fuse_attention_options options;
  std::vector<T> u, states, weights, mixed, kept, d_mixed, d_kept, du, d_states;

  problem(index_t r, index_t l, index_t h, index_t width, double rate)
      : rows(r),
        layers(l),
        heads(h),
        d(width),
        options{h, {rate, 5, 2, nullptr}},
        u(test::random_values<T>(r * h * width, 1)),
        states(test::random_values<T>((l + 1) * r * width, 2)),
        weights(static_cast<std::size_t>(r * h * l)),
        mixed(u.size()),
        kept(static_cast<std::size_t>(r * h)),
        d_mixed(test::random_values<T>(r * h * width, 3)),
        d_kept(test::random_values<T>(r * h, 4)),
        du(u.size()),
        d_states(states.size()) {}

  template <class S>
  tensor<S, dyn, dyn> wide(S* data) const {
    return tensor<S, dyn, dyn>(data, rows, heads * d);
  }
  template <class S>
  layer_states<S> all(S* data) const {
    return layer_states<S>(data, layers + 1, rows, d);
  }  // one more row than is read

  template <class Ex>
  double value(Ex&& ex) {
    fuse_attention(ex, options, layers, wide<T const>(u.data()), all<T const>(states.data()),
                   tensor<T, dyn, dyn>(weights.data(), rows, heads * layers), wide(mixed.data()),
                   tensor<T, dyn, dyn>(kept.data(), rows, heads));
    double sum = 0;
    for (std::size_t i = 0; i < mixed.size(); ++i)
      sum += static_cast<double>(mixed[i]) * static_cast<double>(d_mixed[i]);
    for (std::size_t i = 0; i < kept.size(); ++i) sum += static_cast<double>(kept[i]) * static_cast<double>(d_kept[i]);
    return sum;
  }
  template <class Ex>
  void gradient(Ex&& ex) {
    fuse_attention_grad(ex, options, layers, wide<T const>(u.data()), all<T const>(states.data()),
                        tensor<T const, dyn, dyn>(weights.data(), rows, heads * layers), wide<T const>(d_mixed.data()),
                        tensor<T const, dyn, dyn>(d_kept.data(), rows, heads), wide(du.data()), all(d_states.data()));
  }
};

TEMPLATE_TEST_CASE("what is no number in a state is none in what is mixed", "", TRIAD_TEST_BACKENDS) {
  for (double const rate : {0.0, 0.3}) {
    problem<double> p(2, 3, 1, 4, rate);
    p.u[0] = std::nan("");
    (void)p.value(std::remove_cvref_t<TestType>());
    CHECK(std::isnan(p.kept[0]));
    for (std::size_t f = 0; f < 4; ++f) CHECK(std::isnan(p.mixed[f]));
    CHECK_FALSE(std::isnan(p.mixed[4]));
  }
}

TEMPLATE_TEST_CASE("fuse-attention is attention over a token's own projected states", "", TRIAD_TEST_BACKENDS) {
  index_t const rows = 3, layers = 4, heads = 2, d = 6, k = 3;
  problem<double> p(rows, layers, heads, d, 0);
  auto const q = test::random_values<double>(rows * d, 11), wk = test::random_values<double>(d * d, 12),
             bk = test::random_values<double>(d, 13);
  auto const wv = test::random_values<double>(d * d, 14), bv = test::random_values<double>(d, 15);
  auto const at = [](std::vector<double> const& m, index_t i) { return m[static_cast<std::size_t>(i)]; };
  for (index_t r = 0; r < rows; ++r)
    for (index_t h = 0; h < heads; ++h)
      for (index_t f = 0; f < d; ++f) {
        double sum = 0;
        for (index_t e = 0; e < k; ++e) sum += at(wk, (h * k + e) * d + f) * at(q, r * d + h * k + e);
        p.u[static_cast<std::size_t>((r * heads + h) * d + f)] = sum;
      }
  (void)p.value(std::remove_cvref_t<TestType>());
  for (index_t r = 0; r < rows; ++r)
    for (index_t h = 0; h < heads; ++h) {
      std::vector<double> score(static_cast<std::size_t>(layers)), context(static_cast<std::size_t>(k));
      double total = 0;
      auto const projected = [&](std::vector<double> const& w, std::vector<double> const& b, index_t j, index_t e) {
        double sum = at(b, h * k + e);
        for (index_t f = 0; f < d; ++f) sum += at(w, (h * k + e) * d + f) * at(p.states, (j * rows + r) * d + f);
        return sum;
      };
      for (index_t j = 0; j < layers; ++j) {
        for (index_t e = 0; e < k; ++e)
          score[static_cast<std::size_t>(j)] += at(q, r * d + h * k + e) * projected(wk, bk, j, e);
        total += std::exp(at(score, j));
      }
      for (index_t e = 0; e < k; ++e) {
        double expected = 0, found = at(p.kept, r * heads + h) * at(bv, h * k + e);
        for (index_t j = 0; j < layers; ++j) expected += std::exp(at(score, j)) / total * projected(wv, bv, j, e);
        for (index_t f = 0; f < d; ++f) found += at(wv, (h * k + e) * d + f) * at(p.mixed, (r * heads + h) * d + f);
        CHECK_THAT(found, test::WithinAbs(expected, 1e-12));
      }
    }
}

TEMPLATE_TEST_CASE("the gradient of fuse-attention is that of finite differences, dropout included", "",
                   TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (double rate : {0.0, 0.4})
    for (index_t layers : {1, 3}) {
      problem<double> p(2, layers, 2, 35, rate);
      (void)p.value(ex);
      p.gradient(ex);
      auto const check = [&](std::vector<double>& x, std::vector<double> const& dx) {
        test::check_differences(x, dx, [&] { return p.value(ex); });
      };
      check(p.u, p.du);
      check(p.states, p.d_states);
    }
}

TEST_CASE("fuse-attention in float on the cpu equals the reference in double, whatever the threads") {
  for (index_t rows : {1, 70})
    for (double rate : {0.0, 0.3}) {
      problem<double> exact(rows, 6, 4, 40, rate);
      problem<float> one(rows, 6, 4, 40, rate), two = one;
      auto const run = [](auto& p, auto&& ex) {
        (void)p.value(ex);
        p.gradient(ex);
      };
      run(exact, reference::backend());
      run(one, cpu::backend(1));
      run(two, cpu::backend(2));
      CHECK(one.mixed == two.mixed);
      CHECK(one.kept == two.kept);
      CHECK(one.weights == two.weights);
      CHECK(one.du == two.du);
      CHECK(one.d_states == two.d_states);
      double worst = 0;
      for (std::size_t i = 0; i < exact.mixed.size(); ++i)
        worst = test::worse(worst, std::abs(exact.mixed[i] - static_cast<double>(one.mixed[i])));
      for (std::size_t i = 0; i < exact.kept.size(); ++i)
        worst = test::worse(worst, std::abs(exact.kept[i] - static_cast<double>(one.kept[i])));
      for (std::size_t i = 0; i < exact.du.size(); ++i)
        worst = test::worse(worst, std::abs(exact.du[i] - static_cast<double>(one.du[i])));
      for (std::size_t i = 0; i < exact.d_states.size(); ++i)
        worst = test::worse(worst, std::abs(exact.d_states[i] - static_cast<double>(one.d_states[i])));
      CHECK(worst < 2e-5);  // allows for rounding in sums of 40 numbers of size one
    }
}

TEST_CASE("fuse-attention over more layers than there are is refused with a sentence") {
  problem<double> p(2, 2, 1, 3, 0);
  reference::backend ex;
  CHECK_THROWS_WITH(
      fuse_attention(ex, p.options, 4, p.wide<double const>(p.u.data()), p.all<double const>(p.states.data()),
                     tensor<double, dyn, dyn>(p.weights.data(), 2, 4), p.wide(p.mixed.data()),
                     tensor<double, dyn, dyn>(p.kept.data(), 2, 1)),
      test::contains("layers are 4, expected 1 to 3, the number of states"));
}

}  // namespace ops_fuse_attention_tests
