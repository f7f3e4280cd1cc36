// Tests that the vectorised Adam equals the reference's Adam, for any number of parameters and of threads.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/adam.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"

namespace cpu_adam_tests {

using namespace triad;

struct parameters {
  std::vector<float> p, g, m, v;
  explicit parameters(index_t n)
      : p(test::random_values<float>(n, 1)),
        g(test::random_values<float>(n, 2)),
        m(test::random_values<float>(n, 3)),
        v(test::random_values<float>(n, 4)) {
    for (float& x : v) x *= x;
  }
  template <class Ex>
  parameters after(Ex&& ex, adam_options const& s) const {
    auto next = *this;
    double const rate = 1e-2;
    std::uint64_t const step = 7;
    auto const view = [](std::vector<float>& x) { return make_vec(x.data(), static_cast<index_t>(x.size())); };
    adam(ex, s, make_vec(&rate, 1), &step, view(next.p), view(next.g), view(next.m), view(next.v));
    return next;
  }
};

double largest_difference(std::vector<float> const& a, std::vector<float> const& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = test::worse(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) /
                                   (std::abs(static_cast<double>(b[i])) + 1e-2));
  return worst;
}

TEST_CASE(
    "Adam by vectors is the reference's, for any number of parameters, coupled decay or not, and on any threads") {
  adam_options coupled, apart;
  coupled.weight_decay = apart.weight_decay = 0.1;
  apart.decoupled = true;
  for (index_t n :
       {index_t{1}, index_t{3}, index_t{16}, index_t{17}, index_t{31}, index_t{64}, 2 * cpu::elementwise_chunk + 5})
    for (auto const& s : {adam_options{}, coupled, apart}) {
      CAPTURE(n, s.weight_decay, s.decoupled);
      parameters const before(n);
      auto const expected = before.after(reference::backend(), s), found = before.after(cpu::backend(1), s),
                 by_three = before.after(cpu::backend(3), s);
      CHECK(largest_difference(found.p, expected.p) <
            2e-6);  // a compiler may fuse products and sums in only one of them
      CHECK(largest_difference(found.m, expected.m) < 2e-6);
      CHECK(largest_difference(found.v, expected.v) < 2e-6);
      CHECK(largest_difference(before.p, expected.p) > 1e-4);
      CHECK(found.p == by_three.p);
      CHECK(found.m == by_three.m);
      CHECK(found.v == by_three.v);
    }
}

// If a compiler fused the product with the difference, the product would not be rounded. The result must not depend on
// the compiler.
TEST_CASE("what decay leaves of a parameter is rounded before Adam's step is taken off it") {
  index_t const n = 37;
  parameters before(n);
  for (float& x : before.m) x = 0;
  for (float& x : before.v) x = 0;
  adam_options s;
  s.weight_decay = 0.1, s.decoupled = true;
  double const rate = 1e-2;
  std::uint64_t const step = 0;
  auto found = before;
  auto const view = [](std::vector<float>& x) { return make_vec(x.data(), static_cast<index_t>(x.size())); };
  cpu::backend ex(1);
  adam(ex, s, make_vec(&rate, 1), &step, view(found.p), make_vec(before.g.data(), n), view(found.m), view(found.v));
  auto const of = [](double x) { return static_cast<float>(x); };
  float const step_size = of(rate / (1 - s.beta1)), root = of(std::sqrt(1 - s.beta2)), epsilon = of(s.epsilon);
  index_t joined = 0;
  for (std::size_t i = 0; i < before.p.size(); ++i) {
    CAPTURE(i);
    float const g = before.g[i], shrink = of(1 - rate * s.weight_decay);
    float const volatile some = of(1 - s.beta2) * g, square = some * g, mean = of(1 - s.beta1) * g,
                         scaled = step_size * mean, decayed = shrink * before.p[i];
    float const move = scaled / (std::sqrt(square) / root + epsilon);
    CHECK(found.p[i] == decayed - move);
    joined += std::fma(shrink, before.p[i], -move) != decayed - move;
  }
  CHECK(joined > 0);
}

}  // namespace cpu_adam_tests
