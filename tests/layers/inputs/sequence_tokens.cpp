// Tests the first states of a sentence's tokens: the sines and cosines of their positions, and that the layer adds to
// the gradient of the table.
//
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/inputs/sequence_tokens.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace layers_sequence_tokens_tests {

using namespace triad;

TEMPLATE_TEST_CASE("the gradient of a table of tokens is added, and its fixed row stays what it is", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  index_t const tokens = 3, width = 2, rows = 4;
  std::vector<index_t> const token{1, 0, 1, 2};
  std::vector<double> const du{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> table(tokens * width), gradient(tokens * width);
  token_sequences<double> in{};
  in.token = make_vec<index_t const>(token.data(), rows);
  for (index_t const fixed : {-1, 1}) {
    CAPTURE(fixed);
    gradient.assign(gradient.size(), 0.5);
    sequence_tokens<double> const layer{tokens, extents<dyn>(width), 0, fixed};
    test::with_scratch(ex, call{}, [&](auto& any, call const& c) {
      layer.backward(any, c, {tensor<double const, dyn, dyn>(table.data(), tokens, width)}, in, {},
                     tensor<double const, dyn, dyn>(du.data(), rows, width),
                     {tensor<double, dyn, dyn>(gradient.data(), tokens, width)});
    });
    auto const learned = fixed < 0;
    CHECK(gradient == std::vector<double>{3.5, 4.5, learned ? 6.5 : 0.5, learned ? 8.5 : 0.5, 7.5, 8.5});
  }
}

}  // namespace layers_sequence_tokens_tests
