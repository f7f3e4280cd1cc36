// Tests the loss and the accuracy over data, also by groups. They must equal those of one large batch, however the data
// are divided into batches. The trainer must not change.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"

namespace train_evaluate_tests {

using namespace triad;
using test::add_small_graph;
using test::small_graph;

TEMPLATE_TEST_CASE("an evaluation is of all samples, whatever the batches, and by groups", "", TRIAD_TEST_BACKENDS) {
  test::small_run<TestType, double> r(keep::nothing);
  auto const nodes = [](auto const& g) { return g.nodes; };
  auto const whole = evaluate(r.learner, r.loader, r.data, add_small_graph, {.group = nodes});
  auto const cut = evaluate(r.learner, r.loader, r.data, add_small_graph, {.group = nodes, .most = 4});
  CHECK(whole.answers == 9);
  CHECK_THAT(cut.loss, test::WithinRel(whole.loss, 1e-12));
  CHECK(cut.accuracy == whole.accuracy);
  REQUIRE(whole.by.size() == 3);
  std::uint64_t correct = 0;
  for (auto const& [n, of_group] : whole.by) {
    CHECK((n >= 2 && n <= 4 && of_group.total == 3));
    CHECK(cut.by.at(n).correct == of_group.correct);
    correct += of_group.correct;
  }
  CHECK_THAT(whole.accuracy, test::WithinRel(static_cast<double>(correct) / 9, 1e-12));

  // Computes the loss of the whole batch, and counts right answers from the logits.
  double by_hand = 0;
  for (auto const& g : r.data) {
    r.loader.clear();
    add_small_graph(r.loader, g);
    auto const [in, right_one] = r.loader.upload();
    by_hand += static_cast<double>(r.learner.loss_of(in, right_one)) / 9;
  }
  CHECK_THAT(whole.loss, test::WithinRel(by_hand, 1e-12));
  CHECK(evaluate(r.learner, r.loader, r.data, add_small_graph).by.empty());
}

TEST_CASE("samples without an answer count nowhere, and where nothing is asked nothing is found") {
  test::small_run<cpu::backend, double> r(keep::nothing);
  auto const asked = [](auto& batch, small_graph const& g) { batch.add(g.nodes, 0, 1, g.nodes == 2 ? 0 : -1); };
  auto const found = evaluate(r.learner, r.loader, r.data, asked, {.most = 2});
  CHECK(found.answers == 3);
  CHECK(std::isfinite(found.loss));
  auto const nobody = [](auto& batch, small_graph const& g) { batch.add(g.nodes, 0, 1, -1); };
  auto const nothing = evaluate(r.learner, r.loader, r.data, nobody);
  CHECK((nothing.answers == 0 && std::isnan(nothing.loss) && std::isnan(nothing.accuracy)));
}

TEST_CASE("a network whose weights are no numbers has no accuracy") {
  test::small_run<cpu::backend, double> r(keep::nothing);
  auto const values = r.learner.parameters().flat_values();
  std::fill_n(values.data_handle(), values.extent(0), std::nan(""));
  auto const found = evaluate(r.learner, r.loader, r.data, add_small_graph);
  CHECK((found.answers > 0 && std::isnan(found.loss) && std::isnan(found.accuracy)));
}

TEMPLATE_TEST_CASE("a network of which one weight is no finite number, whichever, has no loss and no accuracy", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType, double> r(keep::nothing);
  auto const before = evaluate(r.learner, r.loader, r.data, add_small_graph);
  CHECK(std::isfinite(before.loss));
  walk(r.learner.parameters().mutable_values(), [&](std::string const& path, auto view) {
    for (double const bad :
         {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
      CAPTURE(path, bad);
      double& weight = view.data_handle()[view.size() - 1];
      auto const kept = std::exchange(weight, bad);
      auto const found = evaluate(r.learner, r.loader, r.data, add_small_graph);
      CHECK((found.answers == 9 && std::isnan(found.loss) && std::isnan(found.accuracy)));
      weight = kept;
    }
  });
  CHECK(evaluate(r.learner, r.loader, r.data, add_small_graph).loss == before.loss);
}

TEST_CASE("further questions are no samples: what has them is refused") {
  cpu::backend ex(1);
  auto room = room_for(test::small_graphs(), 9);
  room.further = 9;
  trainer learner(ex,
                  edge_transformer<float>({.labels = 4, .targets = 3, .layer = {.width = 8, .heads = 2, .hidden = 12}}),
                  {.memory = keep::nothing, .capacity = room});
  initialize(learner.parameters(), 5);
  graph_loader<cpu::backend> loader(room);
  std::vector<further_question> const besides{{{0, 0}, 1}};
  auto const data = test::small_graphs();
  auto const add = [&](bool further) {
    return [&, further](auto& batch, small_graph const& g) {
      graph_question q{.nodes = g.nodes, .ask = {0, g.nodes - 1}, .answer = g.first - 1};
      if (further) q.further = besides;
      batch.add(q);
    };
  };
  CHECK(evaluate(learner, loader, data, add(false), {.most = 9}).answers == 9);
  CHECK_THROWS_WITH(evaluate(learner, loader, data, add(true), {.most = 9}),
                    test::contains("a batch has 9 further questions, expected none"));
}

TEST_CASE("an evaluation leaves dropout out and the trainer as it was") {
  test::small_run<cpu::backend> r(keep::everything, 0.4);
  for (auto const& [in, correct] : r.pass(0)) r.learner.update(in, correct, 0.01);
  auto const loss = r.learner.loss(), norm = r.learner.norm();
  auto const before = r.learner.snapshot();
  auto const gradients = r.learner.parameters().flat_gradients();
  std::vector<float> const kept(gradients.data_handle(), gradients.data_handle() + gradients.extent(0));
  auto const first = evaluate(r.learner, r.loader, r.data, add_small_graph);
  CHECK(evaluate(r.learner, r.loader, r.data, add_small_graph).loss == first.loss);
  CHECK((r.learner.loss() == loss && r.learner.norm() == norm));
  CHECK(r.learner.snapshot() == before);
  CHECK(std::vector<float>(gradients.data_handle(), gradients.data_handle() + gradients.extent(0)) == kept);
}

TEST_CASE("groups of a loader that asks several questions a sample are refused") {
  test::small_run<cpu::backend> r(keep::nothing);
  auto const twice = [](auto& batch, small_graph const& g) {
    add_small_graph(batch, g);
    add_small_graph(batch, g);
  };
  CHECK_THROWS_WITH(evaluate(r.learner, r.loader, r.data, twice, {.group = [](auto const&) { return 0; }, .most = 4}),
                    test::contains("8 rows with groups, expected 4"));
}

}  // namespace train_evaluate_tests
