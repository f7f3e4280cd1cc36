// Tests repeated layers: the gradients of tied and untied layers if all values are kept, or only some; static and
// dynamic sizes; states that are read between the layers; and a repeat of zero layers.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/repeat.hpp"

#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/layers/edge_graphs.hpp"
#include "tests/layers/outcome.hpp"
#include "tests/layers/sentences.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/transformer_layer.hpp"

namespace layers_repeat_tests {

using namespace triad;

constexpr index_t d = 6, heads = 2, hidden = 10;

template <index_t D, index_t H, index_t F, index_t N, class Ex>
void check_repeat(Ex& ex, bool tied, keep kept, double dropout) {
  test::edge_graphs const graphs(6);
  CAPTURE(tied, kept == keep::inputs, dropout, D);
  using layer = edge_transformer_layer<double, D, H, F>;
  repeat<double, layer, N> const stack{layer({6, 2, 8, dropout}), extents<N>(3), tied};
  gradient_check_options options{.directions = 1, .elements = 2};
  options.kept = kept;
  CHECK_GRADIENT(gradient_check(ex, stack, graphs.dims(), graphs.input<D>(), {graphs.rows(), 6}, options));
}

TEMPLATE_TEST_CASE("repeated layers have the gradient of their value, tied and untied, kept and run again", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (bool tied : {false, true})
    for (auto kept : {keep::everything, keep::inputs})
      for (double dropout : {0.0, 0.3}) {
        check_repeat<dyn, dyn, dyn, dyn>(ex, tied, kept, dropout);
        check_repeat<6, 2, 8, 3>(ex, tied, kept, dropout);
      }
}

TEST_CASE(
    "repeated layers compute the same bits whatever their shape and what they keep, and others where they are untied") {
  test::edge_graphs const g(d);
  edge_transformer_layer_options const o{d, heads, hidden, 0.3, triangle_form::full, false};
  using fixed_layer = edge_transformer_layer<double, d, heads, hidden>;
  output_shape const shape{g.rows(), d};
  for (bool tied : {true, false}) {
    CAPTURE(tied);
    repeat<double, fixed_layer, 3> const fixed{fixed_layer(o), {}, tied};
    repeat<double, edge_transformer_layer<double>> const free{edge_transformer_layer<double>(o), extents<dyn>(3), tied};
    auto const all = test::outcome_of(fixed, g.dims(), g.input<d>(), shape);
    test::expect_same(all, test::outcome_of(free, g.dims(), g.input(), shape));
    test::expect_same(all, test::outcome_of(fixed, g.dims(), g.input<d>(), shape, keep::inputs));
    CHECK(all.gradient.size() == (tied ? 1u : 3u) * 13 + 1);

    // With keep::nothing, the value is the same. A backward pass is then refused.
    reference::backend ex;
    gradient_check_options none;
    none.kept = keep::nothing;
    using bench = detail::layer_under_check<reference::backend, repeat<double, fixed_layer, 3>, graph_dims>;
    CHECK_THROWS_WITH(bench(ex, fixed, g.dims(), g.input<d>(), shape, none),
                      test::contains("repeat: backward with memory planned for inference"));
  }
}

TEST_CASE("repeated Transformer layers of static and of dynamic shape compute the same bits, whatever they keep") {
  test::sentences const s(d);
  row_dims const dims(s.rows);
  using fixed_layer = transformer_layer<double, d, heads, hidden>;
  using free_layer = transformer_layer<double>;
  transformer_layer_options const o{d, heads, hidden, 0.3, norm_position::before};
  for (bool tied : {true, false}) {
    CAPTURE(tied);
    repeat<double, fixed_layer, 3> const three{fixed_layer(o), {}, tied};
    auto const all = test::outcome_of(three, dims, s.input<d>(), {s.rows, d});
    test::expect_same(all, test::outcome_of(repeat<double, free_layer>{free_layer(o), extents<dyn>(3), tied}, dims,
                                            s.input(), {s.rows, d}));
    test::expect_same(all, test::outcome_of(three, dims, s.input<d>(), {s.rows, d}, keep::inputs));
  }
}

TEST_CASE("wanted rows are those of the whole result, pruned or gathered, and so are their gradients") {
  reference::backend ex;
  test::edge_graphs const g(d);
  using stack = repeat<double, edge_transformer_layer<double>>;
  struct result {
    std::vector<double> y, dx, gradient;
  };
  auto const run = [&](bool wants, bool prune, keep kept) {
    stack const layers{edge_transformer_layer<double>({d, heads, hidden}), extents<dyn>(3), false, prune};
    parameter_set<stack, reference::backend> p(layers, holding::gradients);
    auto const values = test::random_values(p.flat_values().extent(0), 4);
    std::copy(values.begin(), values.end(), p.flat_values().data_handle());
    auto const saved_in = [&](arena& a) {
      return wants ? layers.plan_wanted(a, g.dims(), kept, 3) : layers.plan_saved(a, g.dims(), kept);
    };
    test::spoiled_memory const memory(saved_in);
    auto place = memory.place();
    auto const saved = saved_in(place);
    index_t const rows = wants ? 3 : g.rows();
    result r;
    r.y.resize(static_cast<std::size_t>(rows * d));
    r.dx.resize(static_cast<std::size_t>(g.rows() * d));
    std::vector<double> dy(r.y.size());  // the rows that are read, in any order
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t c = 0; c < d; ++c)
        dy[(wants ? k : static_cast<std::size_t>(g.wanted[k])) * d + c] = static_cast<double>(k + c) - 3;
    tensor<double, dyn, dyn> const y(r.y.data(), rows, d), dx(r.dx.data(), g.rows(), d);
    test::with_scratch(ex, {}, [&](auto& on, call const& c) {
      layers.forward(on, c, p.values(), g.input(true, wants), saved, y);
      if (kept != keep::nothing)
        layers.backward(on, c, p.values(), g.input(true, wants), saved,
                        tensor<double const, dyn, dyn>(dy.data(), rows, d), dx, p.gradients());
    });
    auto const gradient = p.flat_gradients();
    if (kept != keep::nothing) r.gradient.assign(gradient.data_handle(), gradient.data_handle() + gradient.extent(0));
    if (!wants || prune)
      CHECK_THROWS_WITH(saved.state(3), test::contains("state 3, expected 0 to 2"));
    else
      CHECK_NOTHROW(saved.state(3));
    return r;
  };
  auto const whole = run(false, true, keep::everything);
  for (bool prune : {true, false})
    for (auto kept : {keep::everything, keep::inputs, keep::nothing}) {
      CAPTURE(prune, static_cast<int>(kept));
      auto const some = run(true, prune, kept);
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < d; ++c)
          CHECK_THAT(some.y[k * d + c], test::WithinAbs(whole.y[static_cast<std::size_t>(g.wanted[k]) * d + c], 1e-13));
      if (kept == keep::nothing) continue;
      CHECK(test::distance(some.dx, whole.dx) < 1e-12);
      CHECK(test::distance(some.gradient, whole.gradient) < 1e-12);
    }
}

/// y = x_3 + x_1 + 2 x_2: the states between the layers are read, too.
struct reads_between {
  using T = double;
  using stack = repeat<double, edge_transformer_layer<double>>;
  using input = stack::input;
  using output = stack::output;
  template <class S>
  using fields = stack::fields<S>;
  struct saved {
    stack::saved layers;
    output read;  // (rows, d)
  };

  stack layers;

  index_t width() const { return layers.width(); }
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return layers.template plan_params<S>(place);
  }
  saved plan_saved(arena& place, graph_dims const& dims, keep kept = keep::everything) const {
    auto const of_layers = layers.plan_saved(place, dims, kept);
    return {of_layers, place.make<output>(dims.rows, width())};
  }
  template <class Ex>
  void forward(Ex& ex, call const& c, fields<double const> w, input const& in, saved const& s, output y) const {
    fill(ex, 0.0, s.read);
    layers.forward_with(ex, c, w, in, s.layers, y, [&](index_t k, auto x) {
      for (index_t times = 0; times < k; ++times) transform(ex, plus{}, s.read, x, s.read);
    });
    transform(ex, plus{}, y, s.read, y);
  }
  template <class Ex>
  void backward(Ex& ex, call const& c, fields<double const> w, input const& in, saved const& s, const_view<output> dy,
                output dx, fields<double> gradient) const {
    layers.backward_with(ex, c, w, in, s.layers, dy, dx, gradient, [&](index_t k, output dx_k) {
      for (index_t times = 0; times < k; ++times) transform(ex, plus{}, dx_k, dy, dx_k);
    });
  }
};

TEMPLATE_TEST_CASE("states between repeated layers can be read, and their gradients are added", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  test::edge_graphs const graphs(d);
  for (bool tied : {false, true})
    for (auto kept : {keep::everything, keep::inputs}) {
      CAPTURE(tied, kept == keep::inputs);
      reads_between const layer{{edge_transformer_layer<double>({d, heads, hidden, 0.3}), extents<dyn>(3), tied}};
      gradient_check_options options{.directions = 1, .elements = 2};
      options.kept = kept;
      CHECK_GRADIENT(gradient_check(ex, layer, graphs.dims(), graphs.input(), {graphs.rows(), d}, options));
    }
}

TEST_CASE("no layers at all are refused with a sentence, not passed through") {
  reference::backend ex;
  using stack = repeat<double, linear<double>>;
  stack const none{linear<double>{extents<dyn, dyn>(d, d)}, extents<dyn>(0), true};
  parameter_set<stack, reference::backend> parameters(none, holding::values);
  arena place;
  std::vector<double> x(5 * d);
  auto const states = tensor<double, dyn, dyn>(x.data(), 5, d);
  CHECK_THROWS_WITH(none.forward(ex, call{}, parameters.values(), {states},
                                 none.plan_saved(place, graph_dims{0, 5, 0, 0, 0}), states),
                    test::contains("repeat: 0 layers, expected 1 or more"));
}

}  // namespace layers_repeat_tests
