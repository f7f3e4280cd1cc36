// Checks of whole layers against the reference, and of the triangle at sizes where that would take minutes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check.hpp"
#include "problem.hpp"
#include "triad/layers/triangular_attention.hpp"

namespace bench {

template <class T>
triad::triangular_attention<T> attention(triad::triangle_form form, shape const& z) {
  return {triad::extents<triad::dyn, triad::dyn>(z.d, z.h), form};
}

/// Output, gradient of the input and every parameter's gradient, against the same layer in double.
template <class Layer, class Expected>
verdict check_layer(Layer const& layer, Expected const& reference, equal_graphs const& graphs) {
  checker judge;
  layer_problem<float, Layer, triad::cpu::backend> found(machine(), layer, graphs, true);
  layer_problem<double, Expected, checker> expected(judge, reference, graphs, true);
  found.run(true);
  expected.run(true);
  if (auto wrong = compare_views("y", found.y(), expected.y())) return wrong;
  if (auto wrong = compare_views("dx", found.dx(), expected.dx())) return wrong;
  return compare_fields(found.gradient(), expected.gradient());
}

/// The triangle alone, at its full size, at a few edges.
inline verdict check_edges(triad::triangle_form form, shape const& z) {
  auto const layer = attention<float>(form, z);
  equal_graphs const graphs(z.b, z.n);
  layer_problem<float, triad::triangular_attention<float>, triad::cpu::backend> found(machine(), layer, graphs, false);
  found.run(false);
  auto const& s = found.saved();
  triad::triangle_settings const settings{form, z.h};
  auto const x = layer.split(triad::read_only(s.projected));
  triad::triangle_statistics<float const> const statistics{triad::as_matrix(triad::read_only(s.maximum)),
                                                           triad::as_matrix(triad::read_only(s.inverse_sum))};
  auto const o = triad::as_matrix(triad::read_only(s.mixed)), d_o = triad::as_matrix(triad::read_only(found.y()));  // any gradient will do
  triad::triangle_projections<float> d{};
  triad::buffer<> const memory(static_cast<std::size_t>(4 * z.rows() * layer.projections() * z.d) + triad::arena_slack);
  d = layer.split(triad::tensor<float, triad::dyn, triad::dyn>(static_cast<float*>(memory.data()), z.rows(), layer.projections() * z.d));
  auto const scratch_bytes = triad::planned_scratch(machine(), {}, [&](auto& ex, triad::call const& c) {
    triad::triangle_grad<std::remove_reference_t<decltype(ex)>, float>(ex, *c.scratch, settings, x, graphs.view(), statistics, o, d_o, d);
  });
  triad::buffer<> const scratch(scratch_bytes);
  auto place = scratch.place();
  triad::triangle_grad<triad::cpu::backend, float>(machine(), place, settings, x, graphs.view(), statistics, o, d_o, d);
  return sampled_triangle(settings, x, graphs.view(), o, d_o).check(d, 6);
}

}  // namespace bench
