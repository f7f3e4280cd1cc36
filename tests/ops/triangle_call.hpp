// The operands and the results of one call of triangular attention, forward and backward, for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/ragged.hpp"
#include "triad/ops/triangle.hpp"

namespace triad::test {

/// All forms except the flat one.
inline constexpr triangle_form forms_but_flat[] = {triangle_form::full, triangle_form::value_ablation,
                                                   triangle_form::attention_ablation, triangle_form::both_ablations};

/// The projections of a batch, and the results and gradients of one call. The projections of an edge are side by side
/// in one row, as a layer writes them.
template <class T>
struct triangle_call {
  ragged shape;
  index_t heads, width, d = heads * width;
  triangle_form form;
  std::vector<index_t> sources;      // empty: not causal
  std::vector<std::uint8_t> masked;  // empty: no mask
  double fill = triangle_mask{}.fill, rate = 0;
  std::uint64_t step = 4;
  std::vector<T> x, d_o, o, dx, maximum, inverse_sum;

  triangle_call(std::vector<index_t> nodes, index_t h, index_t k, triangle_form f, std::vector<index_t> s = {})
      : shape(std::move(nodes)), heads(h), width(k), form(f), sources(std::move(s)) {
    auto const rows = shape.dims.rows;
    x = random_values<T>(rows * 4 * d, 1, 1.5);
    d_o = random_values<T>(rows * d, 2);
    o.resize(d_o.size());
    dx.resize(x.size());
    maximum.resize(static_cast<std::size_t>(rows * heads));
    inverse_sum = maximum;
    for (auto* v : {&x, &d_o, &o, &dx}) v->resize(v->size() + 16);  // memory that may be read, as an arena provides it
  }
  /// Masks some triangles, and turns dropout on.
  void disturb() {
    random_stream random(4, 4);
    for (index_t t = 0; t < shape.dims.triangles; ++t) masked.push_back(random.uniform() < 0.3);
    fill = -3;
    rate = 0.3;
  }
  triangle_options options() const {
    triangle_options t{form, heads};
    if (!sources.empty()) t.sources = make_vec(sources.data(), static_cast<index_t>(sources.size()));
    if (!masked.empty()) t.mask = {make_vec(masked.data(), shape.dims.triangles), fill};
    t.dropout = {rate, 99, 3, &step};
    return t;
  }
  template <class S>
  triangle_projections<S> split(S* data) const {
    auto const part = [&](index_t p) { return make_matrix(data + p * d, shape.dims.rows, d, 4 * d); };
    return {part(0), part(1), part(2), uses_right_value(form) ? part(3) : make_matrix<S>(nullptr, 0, 0, 0)};
  }
  triangle_projections<T const> inputs() const { return split(x.data()); }
  template <class V>
  auto edges(V& v) const {
    return make_matrix(v.data(), shape.dims.rows, d, d);
  }

  template <class Ex>
  void run(Ex& ex) {
    run(ex, inputs(), split(dx.data()));
  }
  /// Runs with these inputs and gradients.
  template <class Ex>
  void run(Ex& ex, triangle_projections<T const> const& in, triangle_projections<T> const& gradients) {
    triangle_statistics<T> const statistics{make_matrix(maximum.data(), shape.dims.rows, heads, heads),
                                            make_matrix(inverse_sum.data(), shape.dims.rows, heads, heads)};
    with_scratch(ex, {}, [&](auto& backend, call const& c) {
      using any = std::remove_reference_t<decltype(backend)>;
      triangle<any, T>(backend, *c.scratch, options(), in, shape.batch(), statistics, edges(o));
      triangle_grad<any, T>(backend, *c.scratch, options(), in, shape.batch(),
                            {statistics.maximum, statistics.inverse_sum}, edges(std::as_const(o)),
                            edges(std::as_const(d_o)), gradients);
    });
  }
};

}  // namespace triad::test
