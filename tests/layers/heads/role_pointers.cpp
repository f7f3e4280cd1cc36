// Tests the pointers of coordinated nodes: which states they read, and their gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/role_pointers.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/pointer_run.hpp"

namespace layers_role_pointers_tests {

using namespace triad;
using read = tensor<double const, dyn, dyn>;
using states = tensor<double, dyn, dyn>;

constexpr index_t d = 3;

struct run : test::pointer_run<role_pointers<double>> {
  run() : pointer_run({extents<dyn>(d), {.distance = 0.5, .squarings = 2}}) {}
};

TEST_CASE("a queried node points to itself and to earlier queried tokens, a slot to itself") {
  reference::backend ex;
  run r;
  parameter_set<role_pointers<double>, reference::backend> p(r.layer, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const x = test::random_values(r.rows * d, 5);
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    r.layer.forward(backend, c, p.values(), r.in, read(x.data(), r.rows, d), r.saved);
  });
  auto const w = p.values();
  // The score of two nodes, computed here from the state of their edge.
  auto const score = [&](index_t i, index_t j) {
    auto const* const state = &x[static_cast<std::size_t>((i * 5 + j) * d)];
    double mean = 0, square = 0;
    for (index_t k = 0; k < d; ++k) mean += state[k] / d;
    for (index_t k = 0; k < d; ++k) square += (state[k] - mean) * (state[k] - mean) / d;
    auto const& first = i == j ? w.self_hidden : w.hidden;
    auto const& last = i == j ? w.self_score : w.score;
    double sum = last.bias(0);
    for (index_t h = 0; h < d; ++h) {
      double before = first.bias(h);
      for (index_t k = 0; k < d; ++k)
        before += first.weight(h, k) *
                  ((state[k] - mean) / std::sqrt(square + r.layer.norm().epsilon) * w.norm.gain(k) + w.norm.bias(k));
      sum += last.weight(0, h) * std::fmax(before, 0);
    }
    return sum;
  };
  auto const found = r.layer.pointers(r.saved);
  double const own = std::exp(score(3, 3)), near = std::exp(score(3, 1)), far = std::exp(score(3, 0) - 0.5),
               all = own + near + far;
  CHECK_THAT(found(2 * 4 + 2), test::WithinAbs(own / all, 1e-12));
  CHECK_THAT(found(2 * 4 + 1), test::WithinAbs(near / all, 1e-12));
  CHECK_THAT(found(2 * 4 + 0), test::WithinAbs(far / all, 1e-12));
  CHECK((found(2 * 4 + 3) == 0 && found(3 * 4 + 3) == 1 && found(3 * 4 + 0) == 0 && found(0) == 1));
  // H is the fourth power of L.
  auto const second = own / all,
             first_of_second = std::exp(score(1, 0)) / (std::exp(score(1, 0)) + std::exp(score(1, 1)));
  CHECK_THAT(r.layer.heads(r.saved)(2 * 4 + 2), test::WithinAbs(std::pow(second, 4), 1e-12));
  CHECK_THAT(r.layer.heads(r.saved)(1 * 4 + 1), test::WithinAbs(std::pow(1 - first_of_second, 4), 1e-12));
}

TEST_CASE("pointers of coordinated nodes have the gradient of their values") {
  run r;
  auto const dheads = test::random_values(r.pairs, 2), dpointers = test::random_values(r.pairs, 3);
  CHECK_GRADIENT(test::check_use(
      r.layer, {{"x", test::random_values(r.rows * d, 1)}}, [&](auto& parameters, variables const& at, variables* g) {
        reference::backend ex;
        read const x(at[1].values.data(), r.rows, d);
        test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
          r.layer.forward(backend, c, parameters.values(), r.in, x, r.saved);
          if (g == nullptr) return;
          states const dx((*g)[1].values.data(), r.rows, d);
          fill(backend, 0.0, dx);
          r.layer.backward(backend, c, parameters.values(), r.in, r.saved,
                           make_vec<double const>(dheads.data(), r.pairs),
                           make_vec<double const>(dpointers.data(), r.pairs), dx, parameters.gradients());
        });
        double sum = 0;
        for (index_t p = 0; p < r.pairs; ++p)
          sum += dheads[static_cast<std::size_t>(p)] * r.layer.heads(r.saved)(p) +
                 dpointers[static_cast<std::size_t>(p)] * r.layer.pointers(r.saved)(p);
        return sum;
      }));
  CHECK(test::paths_of(r.layer) ==
        std::vector<std::string>{"norm.gain", "norm.bias", "hidden.weight", "hidden.bias", "score.weight", "score.bias",
                                 "self_hidden.weight", "self_hidden.bias", "self_score.weight", "self_score.bias"});
}

}  // namespace layers_role_pointers_tests
