// The model of docs/guide/5-models.md, which labels every edge of a labelled graph. The program checks and trains it.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/triad.hpp"

using namespace triad;

/// x_0 = e(label);  x_{k+1} = layer(x_k);  logits = x_L w' + b, one row for every edge.
template <class T>
struct edge_tagger {
  using value_type = T;
  using input = graph_queries;
  using output = tensor<T, dyn, dyn>;  // (rows, tags)
  using answers = vec<index_t const>;  // (rows); negative: not asked
  using layer_type = edge_transformer_layer<T>;

  embedding<T> labels;
  repeat<T, layer_type> layers;
  linear<T> readout;

  edge_tagger(index_t known, index_t tags, index_t depth, edge_transformer_layer_options const& o)
      : labels{extents<dyn, dyn>(known, o.width)},
        layers{layer_type(o), extents<dyn>(depth), false},
        readout{extents<dyn, dyn>(o.width, tags)} {}

  template <class S>
  struct fields {
    fields_of<triad::embedding<T>, S> embedding;
    fields_of<repeat<T, layer_type>, S> layers;
    fields_of<linear<T>, S> readout;
    template <class F>
    void each(F&& f) {
      f("embedding", embedding);
      f("layers", layers);
      f("readout", readout);
    }
  };
  struct saved {
    typename repeat<T, layer_type>::saved layers;  // with x_0
    tensor<T, dyn, dyn> last;                      // x_L (rows, d)
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(labels, place), plan<S>(layers, place), plan<S>(readout, place)};
  }
  saved plan_saved(arena& place, graph_dims dims, keep kept = keep::everything) const {
    return {layers.plan_saved(place, dims, kept), place.make<tensor<T, dyn, dyn>>(dims.rows, layers.width())};
  }
  output plan_output(arena& place, graph_dims const& dims) const {
    return place.make<output>(dims.rows, readout.out());
  }
  static input measured_input(graph_dims const& dims) { return input::measured(dims); }
  static answers measured_answers(graph_dims const& dims) { return answers(nullptr, dims.rows); }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output logits) const {
    labels.forward(ex, c, w.embedding, in.label, {}, s.layers.state(0));
    layers.forward(ex, c.child(0), w.layers, {s.layers.state(0), in.graphs}, s.layers, s.last);
    readout.forward(ex, c, w.readout, s.last, {}, logits);
  }
  template <backend Ex>
  void loss(Ex& ex, arena&, input const&, output logits, answers const& targets, vec<T> loss, output d_logits) const {
    cross_entropy(ex, logits, targets, loss, d_logits);
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> d_logits,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const states = [&] {
      return c.scratch->template make<tensor<T, dyn, dyn>>(in.graphs.dims.rows, layers.width());
    };
    auto const d_last = states(), d_x0 = states();
    readout.backward(ex, c, w.readout, s.last, {}, d_logits, d_last, gradient.readout);
    layers.backward(ex, c.child(0), w.layers, {s.layers.state(0), in.graphs}, s.layers, d_last, d_x0, gradient.layers);
    labels.backward(ex, c, w.embedding, in.label, {}, d_x0, gradient.embedding);
  }
};
static_assert(model<edge_tagger<float>>);

int main() {
  cpu::backend ex;
  graph_dims const room = room_for_graphs(32, 5, 5);
  graph_loader<cpu::backend> batch(room);
  std::vector<index_t> targets;

  // Random labels on a cycle: edge (i, i + 1) has one of two labels. The tag of edge (i, i + 2) says whether the labels
  // of (i, i + 1) and (i + 1, i + 2) differ.
  random_stream random(1, 0);
  auto const marked_cycles = [&](index_t graphs) {
    batch.clear();
    targets.assign(static_cast<std::size_t>(25 * graphs), -1);
    for (index_t g = 0; g < graphs; ++g) {
      index_t mark[5];
      for (auto& m : mark) m = random.below(2);
      auto* const label = batch.add(5, 0, 2, mark[0] != mark[1]);
      for (index_t i = 0; i < 5; ++i) label[5 * i + (i + 1) % 5] = 1 + mark[i];
      for (index_t i = 0; i < 5; ++i)
        targets[static_cast<std::size_t>(25 * g + 5 * i + (i + 2) % 5)] = mark[i] != mark[(i + 1) % 5];
    }
    return batch.upload().first;
  };
  auto const answers = [&] { return make_vec<index_t const>(targets.data(), static_cast<index_t>(targets.size())); };

  edge_tagger<double> const small(3, 2, 2, {.width = 8, .heads = 2, .hidden = 8});
  auto const two = marked_cycles(2);
  auto const report = gradient_check(ex, small, two.graphs.dims, two, {two.graphs.dims.rows, 2});
  std::puts(report.text().c_str());

  edge_tagger<float> const tagger(3, 2, 2, {.width = 16, .heads = 2, .hidden = 32});
  trainer learner(ex, tagger, {.capacity = room});
  initialize(learner.parameters(), 1);
  for (int step = 0; step < 300; ++step) {
    auto const graphs = marked_cycles(32);
    learner.update(graphs, answers(), 3e-3);
  }
  std::printf("loss after 300 updates: %.4f\n", static_cast<double>(learner.loss()));
  return !report || learner.loss() > 0.05f;
}
