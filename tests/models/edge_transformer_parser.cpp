// Tests the parser: its gradient for all combinations of options. Padding must not change a result, except where a
// parent is padding.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/edge_transformer_parser.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/parser_use.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/trainer.hpp"

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

TEMPLATE_TEST_CASE("a parser that reads verbs from words has the gradient of its loss where words are dropped", "",
                   TRIAD_TEST_BACKENDS) {
  auto const all = test::dropped_sentences();
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional}) {
    CAPTURE(static_cast<int>(encoding));
    auto z = sizes(encoding, arcs::from_child, false, 0.3);
    z.verb_from_word = true;
    check_gradient_of(parser_use<edge_transformer_parser<double>, TestType>(z, keep::everything, all));
    check_gradient_of(parser_use<edge_transformer_parser<double, width, 2, 8>, TestType>(z, keep::inputs, all));
  }
}

TEST_CASE("a word whose vector is not learned is none for the verb either, dropped or not") {
  auto z = sizes(sequence_encoding::relational, arcs::from_child, false, 0);
  z.verb_from_word = true;
  auto const all = test::dropped_sentences();
  for (auto const token : {all[0][0].word, all[0][1].word}) {
    CAPTURE(token);
    z.fixed_token = token;
    parser_use<edge_transformer_parser<double>, reference::backend> use(z, keep::everything, all);
    std::vector<double> gradient(use.values().size());
    use.run(use.values(), &gradient);
    auto const row = gradient.begin() + token * width;  // the table of words is first in the buffer
    CHECK(std::all_of(row, row + width, [](double g) { return g == 0; }));
  }
}

TEST_CASE("a dropped word names its verb all the same, and nothing else of it is seen") {
  auto z = sizes(sequence_encoding::relational, arcs::from_child, false, 0);
  z.verb_from_word = true;
  auto const scores_of = [&](index_t word) {
    std::vector<labelled_token> const sentence{{.token = 0, .word = word}, {.token = 2, .word = 2}};
    reference::backend ex;
    trainer_options o;
    o.capacity = {1, 4, 2, 8, 2};
    trainer<edge_transformer_parser<double>, reference::backend> work(ex, edge_transformer_parser<double>(z), o);
    initialize(work.parameters(), 3);
    sentence_loader<reference::backend, double> loader(o.capacity, reach, width);
    loader.add(sentence);
    auto const in = loader.upload().first;
    auto const found = work.infer(in);
    auto const listed = [](auto view) {
      return std::vector<double>(view.data_handle(), view.data_handle() + view.size());
    };
    return std::pair(listed(found.labels.verb),
                     std::vector{listed(found.parent), listed(found.labels.role), listed(found.labels.category)});
  };
  auto const one = scores_of(3), other = scores_of(4);
  CHECK(one.first != other.first);
  CHECK(one.second == other.second);
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
  auto const first = static_cast<std::size_t>(fixed.fixed_token * width);  // the table of words is first
  double moved = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    bool const inside = i >= first && i < first + width;
    CHECK(b[i] == (inside ? 0 : a[i]));
    if (inside) moved += std::abs(a[i]);
  }
  CHECK(moved > 0);
}

}  // namespace models_edge_transformer_parser_tests
