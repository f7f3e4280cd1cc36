// Tests the first states of tokens: their values, and the gradient of the table, with and without a padding token.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/inputs/scaled_tokens.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"

namespace layers_scaled_tokens_tests {

using namespace triad;

constexpr index_t tokens = 5, width = 4, rows = 6;

struct problem {
  std::vector<index_t> token{3, 1, 4, 1, 0, 3}, position{0, 1, 2, 0, 1, 2};
  std::vector<double> table = test::random_values(tokens * width, 1), waves = test::random_values(3 * width, 2),
                      dx = test::random_values(rows * width, 3);
  std::vector<double> x = std::vector<double>(rows * width), gradient = std::vector<double>(tokens * width);
  scaled_tokens<double> layer;

  explicit problem(double rate, index_t padding = -1, embedding_scale scaled = embedding_scale::tokens_up)
      : layer{tokens, extents<dyn>(width), rate, padding, scaled} {}
  placed_tokens<double> in(bool placed = true) const {
    return {make_vec<index_t const>(token.data(), rows), make_vec<index_t const>(position.data(), rows),
            tensor<double const, dyn, dyn>(waves.data(), placed ? 3 : 0, width)};
  }
  template <class Ex>
  double value(Ex& ex, bool placed = true) {
    test::with_scratch(ex, call{.train = true, .key = 3}, [&](auto& any, call const& c) {
      layer.forward(any, c, {tensor<double const, dyn, dyn>(table.data(), tokens, width)}, in(placed), {},
                    tensor<double, dyn, dyn>(x.data(), rows, width));
    });
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * dx[i];
    return sum;
  }
  template <class Ex>
  void differentiate(Ex& ex) {
    test::with_scratch(ex, call{.train = true, .key = 3}, [&](auto& any, call const& c) {
      layer.backward(any, c, {tensor<double const, dyn, dyn>(table.data(), tokens, width)}, in(), {},
                     tensor<double const, dyn, dyn>(dx.data(), rows, width),
                     {tensor<double, dyn, dyn>(gradient.data(), tokens, width)});
    });
  }
};

TEMPLATE_TEST_CASE("first states are scaled vectors with the waves of their places, or without", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  struct scales {
    embedding_scale scaled;
    double token, wave;  // of width 4
  };
  for (auto const& [scaled, token, wave] : {scales{embedding_scale::tokens_up, 2, 1},
                                            {embedding_scale::unscaled, 1, 1},
                                            {embedding_scale::positions_down, 1, 0.5}})
    for (bool placed : {true, false}) {
      problem p(0, -1, scaled);
      (void)p.value(ex, placed);
      for (index_t r = 0; r < rows; ++r)
        for (index_t f = 0; f < width; ++f) {
          auto const at = static_cast<std::size_t>(r);
          double const of_place = placed ? p.waves[static_cast<std::size_t>(p.position[at] * width + f)] : 0;
          CHECK_THAT(p.x[static_cast<std::size_t>(r * width + f)],
                     test::WithinAbs(
                         token * p.table[static_cast<std::size_t>(p.token[at] * width + f)] + wave * of_place, 1e-14));
        }
    }
}

TEMPLATE_TEST_CASE(
    "the table of first states has the gradient of finite differences, and a padding's row keeps what it had", "",
    TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto scaled : {embedding_scale::tokens_up, embedding_scale::unscaled, embedding_scale::positions_down})
    for (double rate : {0.0, 0.4}) {
      problem p(rate, -1, scaled);
      (void)p.value(ex);
      p.differentiate(ex);
      test::check_differences(p.table, p.gradient, [&] { return p.value(ex); });
      problem padded(rate, 1, scaled);
      for (auto& g : padded.gradient) g = 0.5;  // as added by a tied output projection before
      padded.differentiate(ex);
      for (std::size_t i = 0; i < p.gradient.size(); ++i)
        CHECK_THAT(padded.gradient[i], test::WithinAbs(0.5 + (i / width == 1 ? 0 : p.gradient[i]), 1e-14));
    }
}

}  // namespace layers_scaled_tokens_tests
