// Tests the Transformer parser: its gradient for all combinations of options. The results for a sentence must not
// depend on the other sentences of the batch. Memory must be linear in the length of a sentence.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/transformer_parser.hpp"

#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/parser_use.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/trainer.hpp"

namespace models_transformer_parser_tests {

using namespace triad;

constexpr index_t width = test::parser_width;

transformer_parser_options sizes(bool tied, double dropout, norm_position norms = norm_position::after,
                                 index_t fixed = -1) {
  return {test::parser_tokens, test::parser_labels, 2, tied, {width, 2, 8, dropout, norms}, dropout, fixed};
}

TEMPLATE_TEST_CASE("the Transformer parser has the gradient of its loss", "", TRIAD_TEST_BACKENDS) {
  for (auto norms : {norm_position::after, norm_position::before})
    for (bool tied : {false, true}) {
      CAPTURE(norms == norm_position::before, tied);
      auto const kept = tied ? keep::inputs : keep::everything;
      auto const z = sizes(tied, tied ? 0.3 : 0, norms);
      test::check_gradient_of(test::parser_use<transformer_parser<double>, TestType>(z, kept));
      test::check_gradient_of(test::parser_use<transformer_parser<double, width, 2, 8>, TestType>(z, kept));
    }
}

TEMPLATE_TEST_CASE("a Transformer parser that reads verbs from words has the gradient of its loss", "",
                   TRIAD_TEST_BACKENDS) {
  auto z = sizes(true, 0.3);
  z.verb_from_word = true;
  test::check_gradient_of(
      test::parser_use<transformer_parser<double, width, 2, 8>, TestType>(z, keep::inputs, test::dropped_sentences()));
}

TEST_CASE("the Transformer parser lists its parameters by name") {
  std::vector<std::string> paths;
  arena measure;
  walk(transformer_parser<double>(sizes(true, 0)).plan_params(measure),
       [&](std::string const& path, auto) { paths.push_back(path); });
  CHECK(paths.front() == "encoder.tokens");
  CHECK(paths[1] == "layers.0.attention.query.weight");
  CHECK(std::vector<std::string>(paths.begin() + 17, paths.begin() + 23) ==
        std::vector<std::string>{"norm.gain", "norm.bias", "parent.query.weight", "parent.query.bias",
                                 "parent.key.weight", "parent.key.bias"});
  CHECK(paths.size() == 31);
}

// Returns the scores of the first sentence in a batch.
std::vector<double> first_scores(std::vector<std::vector<labelled_token>> const& batch) {
  reference::backend ex;
  using model = transformer_parser<double>;
  trainer_options o;
  o.capacity = {3, 48, 12, 192, 4};
  trainer<model, reference::backend> work(ex, model(sizes(false, 0.4)), o);
  initialize(work.parameters(), 3);
  sentence_loader<reference::backend, double> loader(o.capacity, test::parser_reach, width);
  for (auto const& s : batch) loader.add(s);
  auto const in = loader.upload().first;
  auto const found = work.infer(in);
  auto const n = static_cast<index_t>(batch[0].size());
  std::vector<double> all(found.parent.data_handle(), found.parent.data_handle() + n * n);
  for (auto logits : {found.labels.role, found.labels.category, found.labels.noun_type, found.labels.verb})
    all.insert(all.end(), logits.data_handle(), logits.data_handle() + n * logits.extent(1));
  return all;
}

TEST_CASE("what a sentence is parsed as depends on its words' order and not on the other sentences") {
  auto const all = test::parser_sentences();
  auto const alone = first_scores({all[0]});
  CHECK(first_scores({all[0], all[2], all[1]}) == alone);
  auto turned = all[0];
  std::swap(turned[0].token, turned[3].token);
  REQUIRE(turned[0].token != turned[3].token);
  CHECK(first_scores({turned}) != alone);
}

TEST_CASE("a Transformer parser remembers as much again for a sentence of twice the length") {
  transformer_parser<float> const model({100, {3, 2, 4, 5}, 3, false, {64, 4, 256, 0.1}});
  auto const bytes = [&](index_t n) {
    return planned_bytes([&](arena& a) { (void)model.plan_saved(a, {1, n * n, n, n * n * n, n}); });
  };
  CHECK(bytes(256) < 2 * bytes(128));
}

}  // namespace models_transformer_parser_tests
