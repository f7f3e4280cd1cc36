// Tests the loss of labelled graphs: its value against sums over all labels, its gradient, and its parts.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/graph_loss.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/graph_sentences.hpp"
#include "tests/layers/heads/scores_of_graphs.hpp"
#include "triad/layers/heads/graph_head.hpp"
#include "triad/layers/heads/predicate_head.hpp"

namespace layers_graph_loss_tests {

using namespace triad;

template <class Head>
struct example {
  test::graph_sentences sentences{{2, 2, 3}};
  Head head;
  sentence_graph_batch<double> in;
  graph_answers<double> answers;
  test::scores_of_graphs<Head> scores, d;

  explicit example(Head h)
      : head(h), in(sentences.loader.upload().first), scores(head, in.dims(), 3), d(head, in.dims()) {
    answers = sentences.loader.upload().second;
    if (Head::probabilities == probability_form::logits) return;
    for (auto const& view : {scores.scores.edge, scores.scores.node, scores.scores.bag})  // logarithms of misses
      for (index_t i = 0; i < static_cast<index_t>(view.size()); ++i)
        view.data_handle()[i] = std::log(0.5 + 0.4 * view.data_handle()[i]);
    for (index_t i = 0; i < scores.scores.pointers.extent(0); ++i)
      scores.scores.pointers(i) = 0.5 + 0.4 * scores.scores.pointers(i);
  }
  double loss() {
    reference::backend ex;
    double loss = 0;
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      graph_loss(backend, *c.scratch, Head::probabilities, in, scores.scores, answers, make_vec(&loss, 1), d.scores);
    });
    return loss;
  }
  /// Returns the sum of the binary cross entropies of a matrix of scores.
  static double sum(tensor<double, dyn, dyn> x, tensor<std::uint8_t const, dyn, dyn> target) {
    double sum = 0;
    for (index_t r = 0; r < x.extent(0); ++r)
      for (index_t k = 0; k < x.extent(1); ++k) {
        double const s = x(r, k) - 1e-7, p = Head::probabilities == probability_form::logits
                                                 ? 1 / (1 + std::exp(-x(r, k)))
                                                 : 1 - std::exp(s);
        sum -= std::log(target(r, k) == 1 ? p : 1 - p);
      }
    return sum;
  }
};

template <class Head>
void check_loss(Head const& head) {
  example<Head> e(head);
  auto const& s = e.scores.scores;
  double expected = (e.sum(s.edge, e.answers.edge) + e.sum(s.node, e.answers.node)) / 3;
  expected += 0.5 / 3 * e.sum(s.bag, e.answers.bag);
  for (index_t g : {0, 1}) {  // the third sentence has no label
    double all = 0;
    for (index_t k = 0; k < 3; ++k) all += std::exp(s.graph(g, k));
    expected -= (s.graph(g, e.answers.graph(g)) - std::log(all)) / 2;
  }
  if (s.pointers.extent(0) > 0)
    for (index_t a : {1, 2}) expected -= 0.7 / 3 * std::log(1 - s.pointers(a * 4 + a) + 1e-4);
  CHECK_THAT(e.loss(), test::WithinAbs(expected, 1e-12));

  std::vector<double> gradient;
  e.d.scores.each([&](auto const& v) { gradient.insert(gradient.end(), v.data_handle(), v.data_handle() + v.size()); });
  std::size_t at = 0;
  s.each([&](auto const& view) {
    for (std::size_t i = 0; i < view.size(); ++i, ++at) {
      CAPTURE(at);
      CHECK_THAT(gradient[at],
                 test::WithinAbs(test::derivative(view.data_handle()[i], [&] { return e.loss(); }, 1e-6), 1e-7));
    }
  });
}

TEST_CASE("the loss of a graph is the sum of the cross entropies of all its labels, with its gradient") {
  check_loss(graph_head<double>{extents<dyn>(3), {2, 2, 3}});
  check_loss(predicate_head<double>{extents<dyn>(3), {.labels = {2, 2, 3}, .pointers_after = 1}});
  check_loss(predicate_head<double>{extents<dyn>(3), {.labels = {2, 2, 3}, .bag = false}});
}

}  // namespace layers_graph_loss_tests
