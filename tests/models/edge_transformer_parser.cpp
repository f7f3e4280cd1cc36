// The parser: its gradient in every arrangement, and padding that changes nothing but where it is asked.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer_parser.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/parser_use.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace models_edge_transformer_parser_tests {

using namespace triad;

constexpr index_t width = test::parser_width, reach = test::parser_reach;
using test::parser_sentences, test::parser_use;

edge_transformer_parser_options sizes(sequence_encoding encoding, arcs readout, bool tied, double dropout,
                                      index_t fixed = -1) {
  edge_transformer_parser_options z;
  z.tokens = test::parser_tokens;
  z.relations = 2 * reach + 1;
  z.labels = test::parser_labels;
  z.layers = 2;
  z.tied = tied;
  z.layer = {width, 2, 8, dropout, triangle_form::full, true};
  z.encoding = encoding;
  z.positional_dropout = dropout;
  z.readout = readout;
  z.fixed_token = fixed;
  return z;
}

TEMPLATE_TEST_CASE("the parser has the gradient of its loss", "", TRIAD_TEST_BACKENDS) {
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional})
    for (auto readout : {arcs::from_child, arcs::from_parent})
      for (auto kept : {keep::everything, keep::inputs}) {
        bool const tied = kept == keep::inputs;
        CAPTURE(static_cast<int>(encoding), static_cast<int>(readout), tied);
        auto const z = sizes(encoding, readout, tied, tied ? 0.3 : 0);
        check_gradient_of(parser_use<edge_transformer_parser<double>, TestType>(z, kept));
        if (encoding == sequence_encoding::relational)
          check_gradient_of(parser_use<edge_transformer_parser<double, width, 2, 8, form::paper>, TestType>(z, kept));
      }
}

TEST_CASE("a word that is not learned has no gradient, and the others theirs") {
  auto const z = sizes(sequence_encoding::relational, arcs::from_child, false, 0);
  auto fixed = z;
  fixed.fixed_token = parser_sentences()[0][0].token;
  parser_use<edge_transformer_parser<double>, reference::backend> learned(z, keep::everything),
      held(fixed, keep::everything);
  std::vector<double> a(learned.values().size()), b = a;
  learned.run(learned.values(), &a);
  held.run(held.values(), &b);
  auto const first = static_cast<std::size_t>(fixed.fixed_token * width);  // the table of words begins the buffer
  double moved = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    bool const inside = i >= first && i < first + width;
    CHECK(b[i] == (inside ? 0 : a[i]));
    if (inside) moved += std::abs(a[i]);
  }
  CHECK(moved > 0);
}

}  // namespace models_edge_transformer_parser_tests
