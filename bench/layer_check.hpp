// Compares whole layers with the reference backend.  If this would take minutes, checks only the triangle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "compare.hpp"
#include "problem.hpp"
#include "triad/layers/triangular_attention.hpp"

namespace bench {

template <class T>
triad::triangular_attention<T> attention(triad::triangle_form form, shape const& z) {
  return {triad::extents<triad::dyn, triad::dyn>(z.d, z.h), form};
}

/// Compares the results of a layer on one backend with the results of the same layer in double on another backend.  The
/// results are the output, the gradient of the input, and the gradient of every parameter.
template <class Ex, class Judge, class Layer, class Expected>
verdict check_layer(Ex& ex, Judge& judge, Layer const& layer, Expected const& reference, equal_graphs const& graphs) {
  layer_problem<float, Layer, Ex> found(ex, layer, graphs, true);
  layer_problem<double, Expected, Judge> expected(judge, reference, graphs, true);
  found.run(true);
  expected.run(true);
  auto const a = found.fetch();
  auto const b = expected.fetch();
  if (auto wrong = compare_views("y", a.y, b.y)) return wrong;
  if (auto wrong = compare_views("dx", a.dx, b.dx)) return wrong;
  return compare_fields(a.gradient, b.gradient);
}

/// The triangle of one layer, on arrays that a forward pass of the layer has filled.  The gradient of the triangle's
/// output has arbitrary numbers.  If axes of a bias are given, the scores have a bias, whose gradient is computed.
template <class Ex>
class triangle_problem {
  using layer_type = triad::triangular_attention<float>;
  using memory = typename Ex::memory;

 public:
  triangle_problem(Ex& ex, triad::triangle_form form, shape const& z,
                   std::optional<triad::triangle_bias_axes> const& bias = {})
      : ex_(ex),
        graphs_(z.b, z.n, z.sources),
        layer_(attention<float>(form, z)),
        settings_{form, z.h},
        filled_(ex, layer_, graphs_, false) {
    settings_.sources = filled_.sources();
    filled_.run(false);
    index_t const columns = layer_.projections() * z.d;
    gradients_ = triad::buffer<memory>(static_cast<std::size_t>(4 * z.rows() * columns) + triad::arena_slack,
                                       triad::memory_of(ex));
    dx_ = layer_.split(
        triad::tensor<float, triad::dyn, triad::dyn>(static_cast<float*>(gradients_.data()), z.rows(), columns));
    if (bias) {
      auto const count = bias->count(filled_.graphs().dims, z.h);
      triad::random_stream random(12, 0);
      for (index_t e = 0; e < count; ++e) numbers_.push_back(static_cast<float>(random.uniform(-1, 1)));
      biases_ = triad::buffer<memory>(2 * sizeof(float) * numbers_.size(), triad::memory_of(ex));
      auto* const place = static_cast<float*>(biases_.data());
      triad::memory_of(ex).from_host(place, numbers_.data(), numbers_.size() * sizeof(float));
      bias_ = {triad::make_vec<float const>(place, count), *bias};
      dx_.bias = {triad::make_vec(place + count, count), *bias};
    }
    auto const bytes = triad::planned_scratch(ex, {}, [&](auto& planner, triad::call const& c) {
      value(planner, c);
      gradient(planner, c);
    });
    scratch_ = triad::buffer<memory>(bytes, triad::memory_of(ex));
  }

  void run(bool train) {
    auto place = scratch_.place();
    triad::call const c{&place};
    value(ex_, c);
    if (train) gradient(ex_, c);
  }

  /// Checks every result at a few edges by the definition.
  verdict check() {
    run(true);
    auto const& s = filled_.saved();
    index_t const rows = s.projected.extent(0), columns = s.projected.extent(1), d = s.mixed.extent(1);
    std::vector<float> projected(static_cast<std::size_t>(rows * columns)), d_projected(projected.size());
    std::vector<float> o(static_cast<std::size_t>(rows * d)), d_o(o.size());
    auto const get = [&](std::vector<float>& to, void const* from) {
      triad::memory_of(ex_).to_host(to.data(), from, to.size() * sizeof(float));
    };
    get(projected, s.projected.data_handle()), get(d_projected, gradients_.data());
    get(o, s.mixed.data_handle()), get(d_o, filled_.y().data_handle());
    using matrix = triad::tensor<float, triad::dyn, triad::dyn>;
    auto x = layer_.split(triad::read_only(matrix(projected.data(), rows, columns)));
    auto dx = layer_.split(matrix(d_projected.data(), rows, columns));
    std::vector<float> d_bias(numbers_.size());
    if (!numbers_.empty()) {
      get(d_bias, dx_.bias.values.data_handle());
      x.bias = {triad::make_vec<float const>(numbers_.data(), bias_.values.extent(0)), bias_.axes};
      dx.bias = {triad::make_vec(d_bias.data(), bias_.values.extent(0)), bias_.axes};
    }
    auto settings = settings_;
    settings.sources = graphs_.sources();
    return sampled_triangle(settings, x, graphs_.view(), triad::as_matrix(triad::read_only(matrix(o.data(), rows, d))),
                            triad::as_matrix(triad::read_only(matrix(d_o.data(), rows, d))))
        .check(dx, 6);
  }

 private:
  triad::triangle_projections<float const> operands() const {
    auto x = layer_.split(triad::read_only(filled_.saved().projected));
    x.bias = bias_;
    return x;
  }
  template <class Any>
  void value(Any& ex, triad::call const& c) const {
    auto const& s = filled_.saved();
    triad::triangle(ex, *c.scratch, settings_, operands(), filled_.graphs(),
                    triad::triangle_statistics<float>{triad::as_matrix(s.maximum), triad::as_matrix(s.inverse_sum)},
                    triad::as_matrix(s.mixed));
  }
  template <class Any>
  void gradient(Any& ex, triad::call const& c) const {
    auto const& s = filled_.saved();
    triad::triangle_grad<Any, float>(
        ex, *c.scratch, settings_, operands(), filled_.graphs(),
        {triad::as_matrix(triad::read_only(s.maximum)), triad::as_matrix(triad::read_only(s.inverse_sum))},
        triad::as_matrix(triad::read_only(s.mixed)), triad::as_matrix(triad::read_only(filled_.y())), dx_);
  }

  Ex& ex_;
  equal_graphs graphs_;
  layer_type layer_;
  triad::triangle_options settings_;
  layer_problem<float, layer_type, Ex> filled_;
  triad::buffer<memory> gradients_, scratch_, biases_;
  std::vector<float> numbers_;  // the bias, in the host's memory
  triad::triangle_bias<float const> bias_{};
  triad::triangle_projections<float> dx_{};
};

}  // namespace bench
