// gradient_check passes every layer in every form and finds planted mistakes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/gradient_check.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/layers/repeat.hpp"
#include "triad/ops/softmax.hpp"
#include "triad/reference/reference.hpp"

namespace {

using namespace triad;

struct values {
  std::vector<double> data;
  explicit values(index_t count, std::uint64_t stream = 1) : data(static_cast<std::size_t>(count)) {
    random_stream random(11, stream);
    for (double& v : data) v = random.uniform(-1, 1);
  }
  template <index_t D>
  tensor<double const, dyn, D> rows(index_t columns) const {
    return tensor<double const, dyn, D>(data.data(),
                                        extents<dyn, D>(static_cast<index_t>(data.size()) / columns, columns));
  }
};

// Graphs of 3, 1 and 4 nodes, some triangles masked, three edges read where `pruned`.
struct graphs_under_test {
  test::ragged shape{{3, 1, 4}};
  std::vector<std::uint8_t> masked;
  std::vector<index_t> read{1, 9, 20};

  graphs_under_test() {
    random_stream random(3, 9);
    for (index_t t = 0; t < shape.dims.triangles; ++t) masked.push_back(random.uniform() < 0.3);
  }
  template <index_t D>
  edge_input<double, D> input(values const& x, index_t d, bool masks, bool pruned) const {
    edge_input<double, D> in{x.rows<D>(d), shape.batch()};
    if (masks) in.mask.masked = make_vec(masked.data(), shape.dims.triangles);
    if (pruned) in.read = make_vec(read.data(), static_cast<index_t>(read.size()));
    return in;
  }
};

constexpr triangle_form all_forms[] = {triangle_form::full, triangle_form::value_ablation,
                                       triangle_form::attention_ablation, triangle_form::both_ablations,
                                       triangle_form::flat};

TEMPLATE_TEST_CASE("row layers have the gradient of their value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  values const x(5 * 3);
  CHECK_GRADIENT(gradient_check(ex, linear<double>{extents<dyn, dyn>(3, 4)}, row_dims(5), x.rows<dyn>(3), {5, 4}));
  CHECK_GRADIENT(gradient_check(ex, linear<double, 3, 4>{{}, false}, row_dims(5), x.rows<3>(3), {5, 4}));
  CHECK_GRADIENT(gradient_check(ex, layer_norm_layer<double>{extents<dyn>(3)}, row_dims(5), x.rows<dyn>(3), {5, 3}));
  CHECK_GRADIENT(gradient_check(ex, layer_norm_layer<double, 3>{}, row_dims(5), x.rows<3>(3), {5, 3}));
  for (double rate : {0.0, 0.3}) {
    CHECK_GRADIENT(gradient_check(ex, feed_forward<double>(3, 7, 2, rate), row_dims(5), x.rows<dyn>(3), {5, 2}));
    CHECK_GRADIENT(gradient_check(ex, feed_forward<double, 3, 7, 3>(3, 7, 3, rate), row_dims(5), x.rows<3>(3), {5, 3}));
  }
}

TEMPLATE_TEST_CASE("an embedding has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  std::vector<index_t> const label{4, 0, 2, 4, 4};
  auto const in = make_vec(label.data(), 5);
  CHECK_GRADIENT(gradient_check(ex, embedding<double>{extents<dyn, dyn>(6, 3)}, row_dims(5), in, {5, 3}));
  CHECK_GRADIENT(gradient_check(ex, embedding<double, 6, 3>{}, row_dims(5), in, {5, 3}));
}

template <index_t D, index_t H, class Ex>
void check_attention(Ex& ex, triangle_form variant, bool bias, bool masks, double dropout) {
  graphs_under_test const graphs;
  values const x(graphs.shape.dims.rows * 6);
  CAPTURE(static_cast<int>(variant), bias, masks, dropout, D);
  triangular_attention<double, D, H> const layer{extents<D, H>(6, 2), variant, bias, dropout};
  CHECK_GRADIENT(
      gradient_check(ex, layer, graphs.shape.dims, graphs.input<D>(x, 6, masks, false), {graphs.shape.dims.rows, 6}));
}

TEMPLATE_TEST_CASE("triangular attention has the gradient of its value in every form", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto variant : all_forms)
    for (bool masks : {false, true})
      for (double dropout : {0.0, 0.3}) {
        check_attention<dyn, dyn>(ex, variant, masks, masks, dropout);
        check_attention<6, 2>(ex, variant, !masks, masks, dropout);
      }
}

template <form Form, index_t D, index_t H, index_t F, class Ex>
void check_layer(Ex& ex, triangle_form variant, bool pruned, double dropout) {
  graphs_under_test const graphs;
  values const x(graphs.shape.dims.rows * 6);
  CAPTURE(Form == form::paper, static_cast<int>(variant), pruned, dropout, D);
  edge_transformer_layer<double, D, H, F, Form> const layer({6, 2, 10, dropout, variant, pruned});
  auto const in = graphs.input<D>(x, 6, true, pruned);
  auto const saved = [&](arena& place) {
    return layer.plan_saved(place, graphs.shape.dims, keep::everything, in.read.extent(0));
  };
  CHECK_GRADIENT(gradient_check(ex, layer, saved, in, {pruned ? 3 : graphs.shape.dims.rows, 6}));
}

TEMPLATE_TEST_CASE("the Edge Transformer layer has the gradient of its value in both forms, whole and pruned", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (bool pruned : {false, true})
    for (double dropout : {0.0, 0.3}) {
      for (auto variant : {triangle_form::full, triangle_form::flat}) {
        check_layer<form::released, dyn, dyn, dyn>(ex, variant, pruned, dropout);
        check_layer<form::paper, dyn, dyn, dyn>(ex, variant, pruned, dropout);
      }
      check_layer<form::released, 6, 2, 10>(ex, triangle_form::full, pruned, dropout);
      check_layer<form::paper, 6, 2, 10>(ex, triangle_form::full, pruned, dropout);
    }
}

template <index_t D, index_t H, index_t F, index_t N, class Ex>
void check_repeat(Ex& ex, bool tied, keep kept, double dropout) {
  graphs_under_test const graphs;
  values const x(graphs.shape.dims.rows * 6);
  CAPTURE(tied, kept == keep::inputs, dropout, D);
  using layer = edge_transformer_layer<double, D, H, F>;
  repeat<double, layer, N> const stack{layer({6, 2, 8, dropout}), extents<N>(3), tied};
  gradient_check_options options;
  options.kept = kept;
  CHECK_GRADIENT(gradient_check(ex, stack, graphs.shape.dims, graphs.input<D>(x, 6, true, false),
                                {graphs.shape.dims.rows, 6}, options));
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

// ---- planted mistakes ---------------------------------------------------------------------------------------------

enum class mistake { none, wrong_number, parameters_overwritten, input_accumulated, reads_before_writing, one_element };

// y = a x, one number a column, with a backward that is wrong in one way.
struct broken_scale {
  using input = tensor<double const, dyn, dyn>;  // (rows, d)
  using output = tensor<double, dyn, dyn>;       // (rows, d)
  index_t d;
  mistake wrong;

  template <class S>
  struct fields {
    vec<S> scale;  // (d)
    template <class F>
    constexpr void each(F&& f) {
      f("scale", scale);
    }
  };
  struct saved {
    vec<double> unused;  // (1), written by nobody
  };
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(d)};
  }
  saved plan_saved(arena& place, row_dims, keep) const { return {place.make<vec<double>>(1)}; }

  template <backend Ex>
  void forward(Ex&, call const&, fields<double const> w, input x, saved const&, output y) const {
    if constexpr (executes<Ex>)
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) y(r, c) = w.scale(c) * x(r, c);
  }
  template <backend Ex>
  void backward(Ex&, call const&, fields<double const> w, input x, saved const& s, const_view<output> dy, output dx,
                fields<double> gradient) const {
    if constexpr (executes<Ex>) {
      if (wrong == mistake::parameters_overwritten)
        for (index_t c = 0; c < d; ++c) gradient.scale(c) = 0;
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) {
          double const before = wrong == mistake::input_accumulated      ? dx(r, c)
                                : wrong == mistake::reads_before_writing ? 0 * s.unused(0)
                                                                         : 0;
          dx(r, c) = before + w.scale(c) * dy(r, c) * (wrong == mistake::wrong_number ? 1.001 : 1);
          if (!(wrong == mistake::one_element && r == 2 && c == 1)) gradient.scale(c) += x(r, c) * dy(r, c);
        }
    }
  }
};

TEST_CASE(
    "gradient_check finds a wrong number, an overwritten parameter gradient, an accumulated input gradient and memory "
    "read before written") {
  reference::backend ex;
  values const x(4 * 3);
  auto const report = [&](mistake wrong) {
    return gradient_check(ex, broken_scale{3, wrong}, row_dims(4), x.rows<dyn>(3), {4, 3});
  };
  CHECK(static_cast<bool>(report(mistake::none)));
  CHECK(report(mistake::none).worst < 1e-8);
  CHECK_FALSE(static_cast<bool>(report(mistake::wrong_number)));
  CHECK(report(mistake::wrong_number).path == "x");
  CHECK_FALSE(static_cast<bool>(report(mistake::parameters_overwritten)));
  CHECK(report(mistake::parameters_overwritten).path == "scale");
  CHECK_FALSE(static_cast<bool>(report(mistake::input_accumulated)));
  CHECK_FALSE(static_cast<bool>(report(mistake::reads_before_writing)));
  CHECK_FALSE(static_cast<bool>(report(mistake::one_element)));
  CHECK_THAT(report(mistake::wrong_number).text(), test::contains("wrong at x ") && test::contains("backward says"));
  CHECK_THAT(report(mistake::none).text(), test::contains("right in all 12 checks"));
}

// y = a x + b, whose fields do not list b, or whose backward writes behind it.
struct forgetful_scale {
  using input = tensor<double const, dyn, dyn>;  // (rows, d)
  using output = tensor<double, dyn, dyn>;       // (rows, d)
  index_t d;
  bool forgets, strays = false;

  template <class S>
  struct fields {
    vec<S> scale, shift;  // (d) each
    bool forgets;
    template <class F>
    constexpr void each(F&& f) {
      f("scale", scale);
      if (!forgets) f("shift", shift);
    }
  };
  struct saved {};
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    auto const scale = place.make<vec<S>>(d);
    return {scale, place.make<vec<S>>(d), forgets};
  }
  saved plan_saved(arena&, row_dims, keep) const { return {}; }

  template <backend Ex>
  void forward(Ex&, call const&, fields<double const> w, input x, saved const&, output y) const {
    if constexpr (executes<Ex>)
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) y(r, c) = w.scale(c) * x(r, c) + w.shift(c);
  }
  template <backend Ex>
  void backward(Ex&, call const&, fields<double const> w, input x, saved const&, const_view<output> dy, output dx,
                fields<double> gradient) const {
    if constexpr (executes<Ex>) {
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t c = 0; c < d; ++c) {
          dx(r, c) = w.scale(c) * dy(r, c);
          gradient.scale(c) += x(r, c) * dy(r, c);
          gradient.shift(c) += dy(r, c);
        }
      if (strays) gradient.shift.data_handle()[d] = 1;
    }
  }
};

// y = t(x), t in scratch memory, by loops that stand in on_host or not.
struct looping_copy {
  using input = tensor<double const, dyn, dyn>;  // (rows, d)
  using output = tensor<double, dyn, dyn>;       // (rows, d)
  index_t d;
  bool guarded_forward, guarded_backward;

  template <class S>
  struct fields {
    vec<S> scale;  // (1)
    template <class F>
    constexpr void each(F&& f) {
      f("scale", scale);
    }
  };
  struct saved {};
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(1)};
  }
  saved plan_saved(arena&, row_dims, keep) const { return {}; }

  template <class Ex, class Loop>
  static void maybe(Ex& ex, bool guarded, Loop&& loop) {
    if (guarded)
      on_host(ex, loop);
    else
      loop();
  }
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<double const> w, input x, saved const&, output y) const {
    auto const frame = c.scratch->open();
    auto const t = c.scratch->template make<output>(x.extent(0), d);
    maybe(ex, guarded_forward, [&] {
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t e = 0; e < d; ++e) t(r, e) = w.scale(0) * x(r, e);
    });
    transform(ex, same{}, t, y);
  }
  template <backend Ex>
  void backward(Ex& ex, call const&, fields<double const> w, input x, saved const&, const_view<output> dy, output dx,
                fields<double> gradient) const {
    maybe(ex, guarded_backward, [&] {
      for (index_t r = 0; r < x.extent(0); ++r)
        for (index_t e = 0; e < d; ++e) {
          dx(r, e) = w.scale(0) * dy(r, e);
          gradient.scale(0) += x(r, e) * dy(r, e);
        }
    });
  }
};

TEST_CASE("gradient_check says where a loop over elements stands outside of on_host") {
  reference::backend ex;
  values const x(4 * 3);
  auto const report = [&](bool forward, bool backward) {
    return gradient_check(ex, looping_copy{3, forward, backward}, row_dims(4), x.rows<dyn>(3), {4, 3});
  };
  CHECK_GRADIENT(report(true, true));
  for (bool forward : {false, true}) {
    auto const wrong = report(forward, !forward);
    CHECK_FALSE(static_cast<bool>(wrong));
    CHECK_THAT(wrong.text(),
               test::contains("looping_copy, or a layer in it, writes elements") && test::contains("on_host"));
  }
}

TEST_CASE("a loop over elements of a view without memory is a sentence where indices are checked") {
#if defined(CCCL_ENABLE_HOST_ASSERTIONS)
  arena measure;
  auto const y = measure.make<tensor<double, dyn, dyn>>(4, 3);
  CHECK_THROWS_WITH(y(1, 2) = 0, test::contains("on_host"));
  CHECK_THROWS_AS(slice(y, 3)(1), contract_violation);
  CHECK_THROWS_AS(as_matrix(y)(1, 2), contract_violation);
  CHECK_THROWS_AS(read_only(y)(1, 2), contract_violation);
  auto const pass = [&] { return detail::measured_for<looping_copy>([&] { return y(0, 0); }); };
  CHECK_THROWS_WITH(pass(), test::contains("looping_copy, or a layer in it: "));
#endif
  std::vector<double> there(12);
  tensor<double, dyn, dyn> const z(there.data(), 4, 3);
  CHECK(z(1, 2) == 0);
}

TEST_CASE(
    "gradient_check finds a parameter that each() does not list, and what backward writes outside of all gradients") {
  reference::backend ex;
  values const x(4 * 3);
  auto const report = [&](forgetful_scale const& layer) {
    return gradient_check(ex, layer, row_dims(4), x.rows<dyn>(3), {4, 3});
  };
  CHECK(static_cast<bool>(report({3, false})));
  CHECK_FALSE(static_cast<bool>(report({3, true})));
  CHECK_THAT(report({3, true}).text(), test::contains("does not list 128 bytes") && test::contains("behind scale"));
  CHECK_FALSE(static_cast<bool>(report({3, false, true})));
  CHECK_THAT(report({3, false, true}).text(), test::contains("behind the gradient of shift"));
}

TEST_CASE("gradient_check of an operation takes two functions") {
  reference::backend ex;
  variables const point{{"x", values(6).data}, {"dy", values(6, 2).data}};
  auto const value = [&](variables const& at) {
    std::vector<double> y(6);
    softmax(ex, tensor<double const, dyn, dyn>(at[0].values.data(), 2, 3), tensor<double, dyn, dyn>(y.data(), 2, 3));
    double f = 0;
    for (std::size_t i = 0; i < 6; ++i) f += y[i] * at[1].values[i];
    return f;
  };
  double factor = 1;
  auto const gradient = [&](variables const& at, variables& d) {
    tensor<double, dyn, dyn> const y(d[1].values.data(), 2, 3), dx(d[0].values.data(), 2, 3);
    softmax(ex, tensor<double const, dyn, dyn>(at[0].values.data(), 2, 3), y);  // df/d(dy) = y
    softmax_grad(ex, y, tensor<double const, dyn, dyn>(at[1].values.data(), 2, 3), dx);
    dx(1, 1) *= factor;
  };
  CHECK_GRADIENT(gradient_check(point, value, gradient));
  factor = 1.01;
  auto const report = gradient_check(point, value, gradient);
  CHECK_FALSE(static_cast<bool>(report));
  CHECK(report.path == "x");
}

TEST_CASE("gradient_check does not pass what is not a number") {
  auto const report = gradient_check(
      {{"x", {1.0}}}, [](variables const&) { return 0.0; },
      [](variables const&, variables& d) { d[0].values[0] = std::nan(""); });
  CHECK_FALSE(static_cast<bool>(report));
}

}  // namespace
