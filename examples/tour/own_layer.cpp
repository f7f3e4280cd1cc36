// Defines a layer of your own with the library's operations, checks it by finite differences, and trains it as the
// readout of an Edge Transformer.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/triad.hpp"

using namespace triad;

namespace mine {

// ---- 1.  The layer: a relu that gates an affine map.  Its formulas come first, as in any layer of the library.
//
// y = a * b,  a = relu(x u' + c),  b = x v' + e          * element by element; x (rows, in), u, v (out, in)
// da = dy * b where a > 0, else 0;  db = dy * a;  dx = da u + db v
template <class T>
struct gated_linear {
  using input = tensor<T const, dyn, dyn>;  // (rows, in)
  using output = tensor<T, dyn, dyn>;       // (rows, out)

  linear<T> gate, map;

  gated_linear(index_t in, index_t out) : gate{extents<dyn, dyn>(in, out)}, map{extents<dyn, dyn>(in, out)} {}
  index_t in() const { return gate.in(); }
  index_t out() const { return gate.out(); }

  template <class S>
  struct fields {
    fields_of<linear<T>, S> gate, map;
    template <class F>
    constexpr void each(F&& f) {
      f("gate", gate);
      f("map", map);
    }
  };
  struct saved {
    output a, b;  // (rows, out) each
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(gate, place), plan<S>(map, place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep = keep::everything) const {
    return {place.make<output>(dims.rows, gate.out()), place.make<output>(dims.rows, gate.out())};
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
    auto const d = c.scratch->template make<output>(x.extent(0), gate.out());
    transform(ex, times{}, dy, s.b, d);
    transform(ex, relu_grad{}, s.a, d, d);
    gate.backward(ex, c, w.gate, x, {}, d, dx, gradient.gate);
    transform(ex, times{}, dy, s.a, d);
    map.backward(ex, c, w.map, x, {}, d, dx, gradient.map, {.residual = as_matrix(read_only(dx))});
  }
};

}  // namespace mine

int main() {
  // ---- 2.  Check every gradient against finite differences, in double precision, before training. ----
  std::vector<double> values(7 * 3);
  random_stream random(1, 2);
  for (double& v : values) v = random.uniform(-1, 1);

  cpu::backend ex;
  mine::gated_linear<double> const layer(3, 5);
  tensor<double const, dyn, dyn> const x(values.data(), 7, 3);
  auto const report = gradient_check(ex, layer, row_dims(7), x, {7, 5});
  std::printf("%s\n", report.text().c_str());

  // ---- 3.  In a model.  A model is an embedding, layers and a readout; here the readout is a norm, our layer, and a
  // map to the two answers.  The code that trains, saves and loads a model works with the new layer without changes.
  // The layer's parameters are called readout.second.first.gate.weight and so on.
  using edge_layer = edge_transformer_layer<float>;
  graph_model const network(
      embedding<float>{extents<dyn, dyn>(3, 16)},
      repeat<float, edge_layer>{edge_layer({.width = 16, .heads = 2, .hidden = 32}), extents<dyn>(2), false},
      chain(layer_norm_layer<float>{extents<dyn>(16)},
            chain(mine::gated_linear<float>(16, 8), linear<float>{extents<dyn, dyn>(8, 2)})));
  graph_dims const room = room_for_graphs(32, 5, 5);
  trainer learner(ex, network, {.capacity = room});
  initialize(learner.parameters(), 1);

  // The data: cycles of five nodes, in which edge (i, i + 1) has one of two labels.  The question: do the labels of the
  // first two edges differ?
  graph_loader<cpu::backend> batch(room);
  auto const marked_cycles = [&] {
    batch.clear();
    for (index_t g = 0; g < 32; ++g) {
      index_t mark[5];
      for (auto& m : mark) m = random.below(2);
      auto* const label = batch.add(5, 0, 2, mark[0] != mark[1]);
      for (index_t i = 0; i < 5; ++i) label[5 * i + (i + 1) % 5] = 1 + mark[i];
    }
    return batch.upload();
  };
  for (int step = 0; step < 300; ++step) {
    auto const [graphs, answers] = marked_cycles();
    learner.update(graphs, answers, 3e-3);
  }
  std::printf("loss after 300 updates: %.4f\n", static_cast<double>(learner.loss()));
  return !report || learner.loss() > 0.05F;
}
