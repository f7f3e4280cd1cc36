// Tests batches for models of labelled graphs: batches that only measure memory, and the key of a recorded step.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/graph_queries.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/replay_number.hpp"
#include "triad/reference/reference.hpp"

namespace batches_graph_queries_tests {

using namespace triad;
using test::replay_number;

TEST_CASE("questions without memory have one number a graph, and a label an edge") {
  auto const in = graph_queries::measured({3, 13, 5, 35, 3});
  CHECK((in.graphs.size.extent(0) == 3 && in.label.extent(0) == 13 && in.label.data_handle() == nullptr));
  for (auto const& view : {in.query_edge, in.query_source, in.query_target}) CHECK(view.extent(0) == 3);
  CHECK((in.mask.empty() && in.edge_mask.extent(0) == 0));
  CHECK(upload_bytes(in) == 7 * 128 + 192);  // the labels take 104 bytes with their alignment slack
}

TEST_CASE("recorded work is for one batch of questions: every list and mask tells them apart") {
  auto const in = graph_queries::measured({3, 13, 5, 35, 3});
  std::vector<index_t> const numbers(13);
  std::vector<std::uint8_t> const masked(13);
  for (auto member : {&graph_queries::label, &graph_queries::query_edge, &graph_queries::query_source,
                      &graph_queries::query_target}) {
    auto other = in;
    other.*member = vec<index_t const>(numbers.data(), (in.*member).extent(0));
    CHECK(replay_number(other) != replay_number(in));
  }
  auto padded = in, shut = in;
  padded.edge_mask = make_vec(masked.data(), 13);
  shut.mask.masked = make_vec(masked.data(), 13);
  CHECK(replay_number(padded) != replay_number(in));
  CHECK(replay_number(shut) != replay_number(in));
}

// A model whose output has a logit for each of two targets.
struct two_answers : answers_questions<two_answers, double> {
  using input = graph_queries;
  static constexpr index_t targets() { return 2; }
};

TEST_CASE("the loss is the mean over the questions that are asked, and the others have no gradient") {
  two_answers const model;
  graph_dims const dims{3, 13, 5, 35, 3};
  test::spoiled_memory const memory([&](arena& place) {
    (void)model.plan_output(place, dims);
    return model.plan_output(place, dims);
  });
  auto place = memory.place();
  auto const logits = model.plan_output(place, dims), d = model.plan_output(place, dims);
  REQUIRE((logits.extent(0) == 3 && logits.extent(1) == 2));
  // Questions 0 and 2 have the probabilities 3/4, 1/4 and 1/2, 1/2; question 1 does not count in the loss.
  for (index_t b = 0; b < 3; ++b) logits(b, 0) = b == 0 ? std::log(3.0) : 0, logits(b, 1) = 0;
  std::vector<index_t> const targets{1, -1, 0};
  double loss = 9;
  reference::backend ex;
  arena scratch;
  model.loss(ex, scratch, graph_queries::measured(dims), logits, make_vec(targets.data(), 3), make_vec(&loss, 1), d);
  CHECK_THAT(loss, test::WithinAbs((std::log(4.0) + std::log(2.0)) / 2, 1e-15));
  double const expected[] = {0.375, -0.375, 0, 0, -0.25, 0.25};
  for (index_t b = 0; b < 3; ++b)
    for (index_t t = 0; t < 2; ++t) CHECK_THAT(d(b, t), test::WithinAbs(expected[2 * b + t], 1e-15));
  CHECK(model.measured_answers(dims).extent(0) == 3);
  CHECK(model.measured_input(dims).label.extent(0) == 13);
}

TEST_CASE("further questions add their mean by the share that the batch says, and have its gradient") {
  two_answers const model;
  graph_dims const dims{2, 13, 5, 35, 3, 3};
  test::spoiled_memory const memory([&](arena& place) {
    (void)model.plan_output(place, dims);
    return model.plan_output(place, dims);
  });
  auto place = memory.place();
  auto const logits = model.plan_output(place, dims), d = model.plan_output(place, dims);
  REQUIRE(logits.extent(0) == 5);
  for (index_t q = 0; q < 5; ++q) logits(q, 0) = q % 2 == 0 ? std::log(3.0) : 0, logits(q, 1) = 0;
  std::vector<index_t> const targets{1, 0, 0, -1, 1};
  double loss = 9, share = 0.5;
  auto in = graph_queries::measured(dims);
  in.further_share = make_vec<double const>(&share, 1);
  reference::backend ex;
  std::vector<std::byte> bytes(4096);
  arena scratch(bytes.data(), bytes.size());
  model.loss(ex, scratch, in, logits, make_vec(targets.data(), 5), make_vec(&loss, 1), d);
  CHECK_THAT(loss, test::WithinAbs((std::log(4.0) + std::log(2.0)) / 2 + 0.5 * (std::log(4.0 / 3) + std::log(4.0)) / 2,
                                   1e-15));
  double const expected[] = {0.375, -0.375, -0.25, 0.25, -0.0625, 0.0625, 0, 0, 0.1875, -0.1875};
  for (index_t q = 0; q < 5; ++q)
    for (index_t t = 0; t < 2; ++t) CHECK_THAT(d(q, t), test::WithinAbs(expected[2 * q + t], 1e-15));
  CHECK(model.measured_answers(dims).extent(0) == 5);
  CHECK(model.measured_input(dims).further_share.extent(0) == 1);
  auto other = in;
  other.further_share = vec<double const>(nullptr, 0);
  CHECK(replay_number(other) != replay_number(in));
}

}  // namespace batches_graph_queries_tests
