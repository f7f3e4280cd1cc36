// Tests the relation-aware Transformers: gradients, pruning, recomputation, padding, renumbered nodes, threads, and
// that they memorise a few examples.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/relation_transformer.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/models/labelled_graphs.hpp"
#include "tests/replay_number.hpp"

namespace models_relation_transformer_tests {

using namespace triad;
using namespace test::labelled_graphs;

relation_transformer_options sizes(index_t layers, bool tied, double rate = 0, bool prune = true) {
  return {labels, targets, layers, tied, {d, 2, 10, rate}, prune};
}

using rat = relation_aware_transformer<double>;
using rrat = relation_updating_transformer<double>;

// A model and its backend. One backend is enough here, because the tests of the layers run on all backends.
template <class Model, class Ex>
struct on {
  using model = Model;
  using backend = Ex;
};
#define TRIAD_TEST_MODELS (on<rat, TRIAD_TEST_ONE_BACKEND>), (on<rrat, TRIAD_TEST_ONE_BACKEND>)

TEMPLATE_TEST_CASE("a relation-aware Transformer has the gradient of its loss, tied and untied, pruned and whole", "",
                   rat, rrat, (relation_aware_transformer<double, d, 2, 10>),
                   (relation_updating_transformer<double, d, 2, 10>)) {
  cpu::backend ex(1);
  for (bool tied : {false, true})
    for (bool prune : {false, true})
      for (index_t layers : {1, 2}) {
        CAPTURE(tied, prune, layers);
        bench<TestType> b(sizes(layers, tied, 0.2, prune));
        b.x0 = test::random_values(10 * d, 3);
        CHECK_GRADIENT(b.check(ex));
      }
}

TEMPLATE_TEST_CASE("a relation-aware Transformer is computed as the reference does, with dropout", "",
                   TRIAD_TEST_MODELS) {
  bench<typename TestType::model> b(sizes(3, true, 0.3));
  expect_same(b.all(reference::backend()), b.all(typename TestType::backend()));
}

TEMPLATE_TEST_CASE("pruning the last layer changes neither logits nor gradients", "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (bool tied : {false, true})
    for (index_t layers : {1, 3}) {
      bench<typename TestType::model> pruned(sizes(layers, tied, 0, true)), whole(sizes(layers, tied, 0, false));
      expect_same(pruned.all(ex), whole.all(ex));
    }
}

TEMPLATE_TEST_CASE("a relation-aware Transformer that recomputes gives the same bits, and inference the same logits",
                   "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (index_t layers : {1, 2, 4})
    expect_same_recomputed(bench<typename TestType::model>(sizes(layers, false, 0.3)), ex);
}

TEMPLATE_TEST_CASE("the ragged batch gives the padded batch's logits and gradients", "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (bool prune : {false, true}) {
    bench<typename TestType::model> ragged(sizes(3, true, 0, prune)), padded(sizes(3, true, 0, prune));
    padded.padded_to = 5;
    expect_same(ragged.all(ex), padded.all(ex));
    expect_same(ragged.all(reference::backend()), padded.all(reference::backend()));
  }
}

TEMPLATE_TEST_CASE("relabelling the nodes of a graph changes no answer of a relation-aware Transformer", "",
                   TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  auto renamed = some_graphs();
  renamed[0] = renamed[0].renamed({2, 0, 1});
  renamed[2] = renamed[2].renamed({3, 1, 0, 2});
  bench<typename TestType::model> a(sizes(3, false)), b(sizes(3, false), renamed);
  auto const before = a.all(ex), after = b.all(ex);
  CHECK(largest_difference(before.logits, after.logits) < tolerance);
}

TEMPLATE_TEST_CASE("one seed gives one relation-aware Transformer, whatever the threads", "",
                   (relation_aware_transformer<float>), (relation_updating_transformer<float>)) {
  expect_same_by_threads<TestType>(sizes(3, true, 0.3));
}

TEMPLATE_TEST_CASE("exactly the parameters that are said to have a gradient have one", "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (bool tied : {false, true})
    for (index_t layers : {1, 2}) {
      CAPTURE(tied, layers);
      bench<typename TestType::model> b(sizes(layers, tied));
      b.x0 = test::random_values(10 * d, 3);
      expect_gradients_as_said(std::move(b), ex);
    }
}

TEMPLATE_TEST_CASE("a relation-aware Transformer learns eight graphs by heart", "", (relation_aware_transformer<float>),
                   (relation_updating_transformer<float>)) {
  expect_learned_by_heart<TestType>(relation_transformer_options{labels, targets, 3, true, {16, 2, 32, 0.0}, true},
                                    150);
}

TEST_CASE("first states are a part of what a recorded step is known by") {
  using queries = relation_queries<double, dyn>;
  std::vector<double> states(8);
  graph_queries const asked{};
  auto const from = [&](std::size_t at) {
    return queries(asked, tensor<double const, dyn, dyn>(states.data() + at, 2, 2));
  };
  CHECK(test::replay_number(queries(asked)) != test::replay_number(from(0)));
  CHECK(test::replay_number(from(0)) != test::replay_number(from(4)));
  CHECK(test::replay_number(from(0)) == test::replay_number(from(0)));
}

TEMPLATE_TEST_CASE("a label that a relation-aware Transformer does not know is reported with its edge and its graph",
                   "", rat, rrat) {
  expect_label_told<TestType>(sizes(2, true));
}

TEST_CASE(
    "a relation-aware Transformer without layers, or that is asked for what it did not keep, is refused with a "
    "sentence") {
  CHECK_THROWS_WITH(rat(sizes(0, true)), test::contains("relation_aware_transformer: layers is 0, expected 1 to 255"));
  expect_no_backward_without_states(bench<rat>(sizes(2, true)));
}

}  // namespace models_relation_transformer_tests
