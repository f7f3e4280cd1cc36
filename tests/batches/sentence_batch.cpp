// Tests batches for parsers of sentences: batches that only measure memory, the sum of five losses, and the key of a
// recorded step.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/sentence_batch.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/replay_number.hpp"
#include "triad/reference/reference.hpp"

namespace batches_sentence_batch_tests {

using namespace triad;
using test::WithinAbs;

constexpr label_counts labels{2, 3, 4, 5};

TEST_CASE("sentences, answers and scores have the sizes of their batch") {
  graph_dims const dims{2, 13, 5, 35, 3};
  auto const in = sentence_batch<double>::measured(dims, 6);
  CHECK((in.token.extent(0) == 5 && in.relation.extent(0) == 13 && in.position.extent(0) == 5));
  CHECK((in.waves.extent(0) == 3 && in.waves.extent(1) == 6));
  auto const targets = parse_answers::measured(dims);
  for (auto const& view : {targets.parent, targets.role, targets.category, targets.noun_type, targets.verb})
    CHECK(view.extent(0) == 5);
  arena measure;
  auto const scores = parse_scores<double>::plan(measure, dims, labels);
  std::vector<std::size_t> sizes;
  scores.each([&](auto view) { sizes.push_back(view.size()); });
  CHECK(sizes == std::vector<std::size_t>{13, 10, 15, 20, 25});
}

TEST_CASE("equal scores cost the logarithm of the choices, of each part and in all") {
  test::ragged const graphs({3, 2});
  auto const plan = [&](arena& place) { return parse_scores<double>::plan(place, graphs.dims, labels); };
  std::vector<double> scores_memory(200), gradient_memory(200, 9.0), losses(6);
  arena score_place(scores_memory.data(), 1600), gradient_place(gradient_memory.data(), 1600);
  auto const scores = plan(score_place), d = plan(gradient_place);
  // The first token of the second sentence has no parent, and no token has a verb.
  std::vector<index_t> const parent{0, 0, 1, -1, 1}, some{0, 1, 0, 1, 1}, none(5, -1);
  auto const answer = [](std::vector<index_t> const& v) { return make_vec(v.data(), 5); };
  parse_answers const targets{answer(parent), answer(some), answer(some), answer(some), answer(none)};
  auto const loss = make_vec(losses.data(), 1), parts = make_vec(losses.data() + 1, 5);
  reference::backend ex;
  test::with_scratch(ex, {}, [&](auto& e, call const& c) {
    parse_loss(e, *c.scratch, {}, graphs.batch(), scores, targets, loss, parts, d);
  });
  CHECK_THAT(parts(0), WithinAbs((3 * std::log(3.0) + std::log(2.0)) / 4, 1e-14));
  CHECK_THAT(parts(1), WithinAbs(std::log(2.0), 1e-14));
  CHECK_THAT(parts(2), WithinAbs(std::log(3.0), 1e-14));
  CHECK_THAT(parts(3), WithinAbs(std::log(4.0), 1e-14));
  CHECK(parts(4) == 0);
  CHECK_THAT(loss(0), WithinAbs(parts(0) + parts(1) + parts(2) + parts(3), 1e-14));
  // In the second sentence, row 3 of the edges is (1, 1): the last token is its own parent. The loss is a mean over
  // four tokens, so the gradient is divided by four.
  CHECK_THAT(d.parent(9 + 3), WithinAbs((0.5 - 1) / 4, 1e-15));
  CHECK((d.parent(9) == 0 && d.parent(10) == 0));
  CHECK_THAT(d.labels.category(0, 0), WithinAbs((1.0 / 3 - 1) / 5, 1e-15));
  CHECK_THAT(d.labels.category(0, 2), WithinAbs(1.0 / 3 / 5, 1e-15));
  CHECK(d.labels.verb(4, 4) == 0);
  auto const four = make_vec(losses.data(), 4);
  arena scratch;
  CHECK_THROWS_WITH(parse_loss(ex, scratch, {}, graphs.batch(), scores, targets, loss, four, d),
                    test::contains("parse_loss: parts is ("));
}

TEST_CASE("recorded work is for one batch of sentences: its tokens and masks tell them apart") {
  auto const in = sentence_batch<double>::measured({2, 13, 5, 35, 3}, 6);
  auto const number = test::replay_number(in);
  std::vector<index_t> const numbers(13);
  std::vector<std::uint8_t> const masked(13);
  using batch = sentence_batch<double>;
  for (auto member : {&batch::token, &batch::relation, &batch::position, &batch::self}) {
    auto other = in;
    other.*member = vec<index_t const>(numbers.data(), (in.*member).extent(0));
    CHECK(test::replay_number(other) != number);
  }
  auto padded = in, filled = in;
  auto dropped = in;
  CHECK(dropped.words().data_handle() == in.token.data_handle());
  dropped.word = make_vec(numbers.data(), 5);
  CHECK(dropped.words().data_handle() == numbers.data());
  CHECK(test::replay_number(dropped) != number);
  padded.edge_mask = make_vec(masked.data(), 13);
  filled.mask.fill = -1e3;
  CHECK(test::replay_number(padded) != number);
  CHECK(test::replay_number(filled) != number);
}

}  // namespace batches_sentence_batch_tests
