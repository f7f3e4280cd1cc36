// Tests the first states of tokens with learned positions: their values and their gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/inputs/learned_tokens.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_learned_tokens_tests {

using namespace triad;

constexpr index_t tokens = 7, positions = 6, width = 5;

// Two sequences, of four and of two tokens. One token occurs twice in the same sequence, and another token occurs in
// both.
std::vector<index_t> const token{3, 0, 3, 6, 0, 2}, position{0, 1, 2, 3, 0, 1};
placed_tokens<double> both() {
  return {make_vec(token.data(), 6), make_vec(position.data(), 6), tensor<double const, dyn, dyn>()};
}

TEMPLATE_TEST_CASE("learned first states have the gradient of their value, dropout included", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (double rate : {0.0, 0.4})
    for (index_t first : {0, 2}) {
      CAPTURE(rate, first);
      gradient_check_options const all{.directions = 3, .elements = 30};
      learned_tokens<double> const open{tokens, positions, extents<dyn>(width), rate, 1e-5, first};
      learned_tokens<double, width> const fixed{tokens, positions, {}, rate, 0.1, first};
      CHECK_GRADIENT(gradient_check(ex, open, row_dims(6), both(), {6, width}, all));
      CHECK_GRADIENT(gradient_check(ex, fixed, row_dims(6), both(), {6, width}, all));
    }
}

TEMPLATE_TEST_CASE("a first state is the normalised sum of a token's, its position's and its type's vector", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  learned_tokens<double> const layer{tokens, positions, extents<dyn>(width), 0.5, 0.02};
  auto const word = test::random_values(tokens * width, 1), place = test::random_values(positions * width, 2);
  auto const type = test::random_values(width, 3), gain = test::random_values(width, 4),
             bias = test::random_values(width, 5);
  auto const table = [](std::vector<double> const& v) {
    return tensor<double const, dyn, dyn>(v.data(), static_cast<index_t>(v.size()) / width, width);
  };
  auto const row = [](std::vector<double> const& v) { return tensor<double const, dyn>(v.data(), width); };
  learned_tokens<double>::fields<double const> const w{table(word), table(place), table(type), {row(gain), row(bias)}};
  test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, row_dims(6)); });
  auto at = memory.place();
  std::vector<double> x(6 * width);
  test::with_scratch(ex, call{}, [&](auto& any, call const& c) {  // dropout only in training
    auto here = at;
    layer.forward(any, c, w, both(), layer.plan_saved(here, row_dims(6)), tensor<double, dyn, dyn>(x.data(), 6, width));
  });
  for (std::size_t i = 0; i < 6; ++i) {
    double s[width], mean = 0, variance = 0;
    for (std::size_t c = 0; c < width; ++c) {
      s[c] = word[static_cast<std::size_t>(token[i]) * width + c] +
             place[static_cast<std::size_t>(position[i] + 2) * width + c] + type[c];
      mean += s[c] / width;
    }
    for (double v : s) variance += (v - mean) * (v - mean) / width;
    for (std::size_t c = 0; c < width; ++c)
      CHECK_THAT(x[i * width + c],
                 test::WithinAbs((s[c] - mean) / std::sqrt(variance + 0.02) * gain[c] + bias[c], 1e-14));
  }
}

TEST_CASE("a token beyond the learned positions is refused") {
  reference::backend ex;
  learned_tokens<double> const short_one{tokens, 5, extents<dyn>(width)};
  CHECK(short_one.longest() == 3);
  CHECK_THROWS_WITH(gradient_check(ex, short_one, row_dims(6), both(), {6, width}), test::contains("gather_rows"));
}

}  // namespace layers_learned_tokens_tests
