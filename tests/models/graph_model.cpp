// Tests models of labelled graphs that are composed of an embedding, layers and a readout. One composed model must have
// the same bits as the Edge Transformer. The gradients of other models are checked.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/graph_model.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/layers/chain.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/feed_forward.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"
#include "triad/train/runner.hpp"
#include "triad/train/trainer.hpp"

namespace models_graph_model_tests {

using namespace triad;
using test::contains;

constexpr index_t labels = 7, targets = 5, width = 6;

// Graphs of 3, 1 and 4 nodes, with random labels and one question for each graph.
struct questions {
  test::ragged shape{{3, 1, 4}};
  std::vector<index_t> label, edge{2, 9, 22}, source{0, 3, 7}, target{2, 3, 4};

  questions() {
    random_stream random(3, 1);
    for (index_t e = 0; e < shape.dims.rows; ++e) label.push_back(random.below(labels));
  }
  graph_queries input() const {
    return {shape.batch(), make_vec(label.data(), shape.dims.rows), make_vec(edge.data(), 3),
            make_vec(source.data(), 3), make_vec(target.data(), 3)};
  }
};

edge_transformer_layer_options layer_sizes() { return {width, 2, 8, 0.2, triangle_form::full, false}; }
template <class T>
using layer_of = edge_transformer_layer<T>;

// The layer y = relu(x u' + c) * (x v' + e). The library does not have this readout.
template <class T>
struct gated_readout {
  using input = tensor<T const, dyn, dyn>;  // (b, d)
  using output = tensor<T, dyn, dyn>;       // (b, targets)
  linear<T> gate, map;

  gated_readout(index_t in, index_t out) : gate{extents<dyn, dyn>(in, out)}, map{extents<dyn, dyn>(in, out)} {}
  index_t in() const { return map.in(); }
  index_t out() const { return map.out(); }

  template <class S>
  struct fields {
    fields_of<linear<T>, S> gate, map;
    template <class F>
    void each(F&& f) {
      f("gate", gate);
      f("map", map);
    }
  };
  struct saved {
    output a, b;  // (b, targets)
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(gate, place), plan<S>(map, place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep = keep::everything) const {
    return {place.make<output>(dims.rows, out()), place.make<output>(dims.rows, out())};
  }
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, output y) const {
    gate.forward(ex, c, w.gate, x, {}, s.a, {.relu = true});
    map.forward(ex, c, w.map, x, {}, s.b);
    transform(ex, times{}, s.a, s.b, y);
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input x, saved const& s, const_view<output> dy, output dx,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const d = c.scratch->template make<output>(x.extent(0), out());
    transform(ex, times{}, dy, s.b, d);
    transform(ex, relu_grad{}, s.a, d, d);
    gate.backward(ex, c, w.gate, x, {}, d, dx, gradient.gate);
    transform(ex, times{}, dy, s.a, d);
    map.backward(ex, c, w.map, x, {}, d, dx, gradient.map, {.residual = as_matrix(read_only(dx))});
  }
};

embedding<double> embedded() { return {extents<dyn, dyn>(labels, width)}; }
repeat<double, layer_of<double>> stacked(index_t layers) {
  return {layer_of<double>(layer_sizes()), extents<dyn>(layers), false};
}

template <class Ex, class Model>
void check_gradient(Ex& ex, Model const& model) {
  questions const q;
  CHECK_GRADIENT(gradient_check(ex, model, q.shape.dims, q.input(), {3, targets}));
}

// The same graphs. Two of them have further questions. One further question is about an edge that already has a
// question.
struct further_questions : questions {
  double share = 0.7;
  further_questions() {
    for (index_t const e : {1, 2, 13}) edge.push_back(e);
    for (index_t const s : {0, 0, 4}) source.push_back(s);
    for (index_t const t : {1, 2, 7}) target.push_back(t);
    shape.dims.further = 3;
  }
  graph_queries asked() const {
    auto graphs = shape.batch();
    graphs.dims.further = 3;
    graph_queries in{graphs, make_vec(label.data(), shape.dims.rows), make_vec(edge.data(), 6),
                     make_vec(source.data(), 6), make_vec(target.data(), 6)};
    in.further_share = make_vec<double const>(&share, 1);
    return in;
  }
};

TEMPLATE_TEST_CASE("gradients are right where graphs are asked several questions", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  further_questions const q;
  auto const check = [&](auto const& model) {
    CHECK_GRADIENT(gradient_check(ex, model, q.shape.dims, q.asked(), {6, targets}));
  };
  check(graph_model(embedded(), stacked(2), gated_readout<double>(width, targets)));
  check(graph_model(embedded(), chain(layer_of<double>(layer_sizes()), layer_of<double>(layer_sizes())),
                    gated_readout<double>(width, targets)));
}

TEMPLATE_TEST_CASE("gradients are right with your own readout, over repeats, chains and single layers", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  check_gradient(ex, graph_model(embedded(), stacked(2), gated_readout<double>(width, targets)));
  check_gradient(
      ex, graph_model(embedded(), layer_of<double>(layer_sizes()), linear<double>{extents<dyn, dyn>(width, targets)}));
  check_gradient(ex, graph_model(embedded(), chain(layer_of<double>(layer_sizes()), layer_of<double>(layer_sizes())),
                                 gated_readout<double>(width, targets)));
  check_gradient(ex, graph_model(embedded(), layer_norm_layer<double>{extents<dyn>(width)},  // a layer on rows only
                                 gated_readout<double>(width, targets)));
}

template <class Model>
std::vector<double> logits_of(Model const& model) {
  questions const q;
  cpu::backend ex(1);
  runner run(ex, model, q.shape.dims);
  initialize(run.parameters(), 3);
  auto const y = run(q.input());
  return {y.data_handle(), y.data_handle() + y.size()};
}

TEST_CASE("with the Edge Transformer's parts it is the Edge Transformer, and layers that do not prune say the same") {
  edge_transformer<double> const whole(
      {.labels = labels, .targets = targets, .layers = 1, .tied = false, .layer = layer_sizes()});
  auto const expected = logits_of(whole);
  feed_forward<double> const readout(width, width, targets);
  CHECK(logits_of(graph_model(embedded(), stacked(1), readout)) == expected);
  // The initial values of a layer depend on its name, which is layers.0 or layers, so the parameters are copied.
  graph_model const single(embedded(), layer_of<double>(layer_sizes()), readout);
  questions const q;
  cpu::backend ex(1);
  runner of_whole(ex, whole, q.shape.dims);
  runner of_single(ex, single, q.shape.dims);
  initialize(of_whole.parameters(), 3);
  auto const from = of_whole.parameters().flat_values();
  auto const to = of_single.parameters().flat_values();
  REQUIRE(from.extent(0) == to.extent(0));
  std::copy_n(from.data_handle(), from.extent(0), to.data_handle());
  auto const a = of_whole(q.input()), b = of_single(q.input());
  for (index_t g = 0; g < 3; ++g)
    for (index_t t = 0; t < targets; ++t) CHECK_THAT(a(g, t), test::WithinRel(b(g, t), 1e-10));
}

TEST_CASE("parameters are called embedding, layers and readout, and a trainer holds it") {
  graph_model const model(embedded(), stacked(2), gated_readout<double>(width, targets));
  CHECK((model.width() == width && model.targets() == targets && model.attention_heads() == 2));
  CHECK(model.attention_terms(4) == 4);
  questions const q;
  cpu::backend ex(1);
  trainer learner(ex, model, {.capacity = q.shape.dims});
  initialize(learner.parameters(), 1);
  std::vector<std::string> roots;
  walk(learner.parameters().values(), [&](std::string const& path, auto) { roots.push_back(path); });
  CHECK(roots.front() == "embedding.table");
  CHECK(roots[1].starts_with("layers.0."));
  CHECK(roots.back() == "readout.map.bias");
  index_t const answers[] = {1, 2, 3};
  auto const before = learner.loss_of(q.input(), make_vec(answers, 3));
  for (int i = 0; i < 60; ++i) learner.update(q.input(), make_vec(answers, 3), 0.01);
  CHECK(learner.loss_of(q.input(), make_vec(answers, 3)) < before / 4);
  CHECK(learner.attention(q.input(), {.layer = 1, .graph = 2, .edge = {0, 3}}).terms() == 4);
}

TEST_CASE("parts that do not fit together are refused with their widths") {
  auto const layers = layer_of<double>(layer_sizes());
  embedding<double> const wide{extents<dyn, dyn>(labels, width + 2)};
  CHECK_THROWS_WITH(graph_model(wide, layers, linear<double>{extents<dyn, dyn>(width, targets)}),
                    contains("the embedding has 8 columns, expected 6"));
  CHECK_THROWS_WITH(graph_model(embedded(), layers, linear<double>{extents<dyn, dyn>(width - 1, targets)}),
                    contains("the last layer has 6 columns, expected 5"));
}

TEST_CASE("a label that the embedding does not have is reported with its edge and its graph") {
  questions q;
  q.label[10 + 3] = labels;  // edge (0, 3) of the graph with four nodes
  cpu::backend ex(1);
  runner run(ex, graph_model(embedded(), stacked(1), linear<double>{extents<dyn, dyn>(width, targets)}), q.shape.dims);
  initialize(run.parameters(), 1);
  CHECK_THROWS_WITH(run(q.input()), contains("edge (0, 3) of graph 2 has label 7, and the model knows 0 to 6"));
}

}  // namespace models_graph_model_tests
