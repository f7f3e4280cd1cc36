// Triangular attention of states: the projections and the triangle in one operation, so that a backend may compute a
// few graphs at a time, while their projections are in the cache.
// SPDX-License-Identifier: Apache-2.0
//
//   [q k v1 v2] = x w' + b      x (rows, in), w (p d, in), b (p d) or none; p = 4, or 3 if the form has no v2
//   o = triangle(q, k, v1, v2)  (rows, d): ops/triangle.hpp
//   dx, dw, db                  the gradients of the projections, from those of q, k, v1 and v2: ops/linear_grad.hpp
#pragma once

#include <algorithm>
#include <string>

#include "triad/core/backend.hpp"
#include "triad/core/kept_factor.hpp"
#include "triad/ops/linear_grad.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/triangle.hpp"

namespace triad {

/// Returns the columns of q, k, v1 and v2 in the projections (rows, p d).
template <class S>
triangle_projections<S> split_projections(triangle_form form, matrix<S> all) {
  bool const has_right = uses_right_value(form);
  index_t const d = all.extent(1) / (has_right ? 4 : 3);
  auto const part = [&](index_t p) { return make_matrix(all.data_handle() + p * d, all.extent(0), d, all.stride(0)); };
  return {part(0), part(1), part(2), has_right ? part(3) : no_matrix<S>()};
}

/// What both passes read.
template <class T>
struct projected_triangle_operands {
  kept_factor<T const> x;      // (rows, in)
  matrix<T const> w;           // (p d, in)
  vec<T const> b{nullptr, 0};  // (p d), or (0): there is no bias
  /// (rows, p d): forward overwrites it, and backward reads it.  Without rows, the projections are not kept, and
  /// backward computes them again.
  tensor<T, dyn, dyn> projected{};

  constexpr index_t rows() const { return x.extent(0); }
  constexpr index_t out() const { return w.extent(0); }
  constexpr bool keeps() const { return projected.extent(0) != 0; }
};

/// The gradients that the backward pass writes.
template <class T>
struct projected_triangle_gradients {
  matrix<T> dx;           // (rows, in), or without rows: not computed
  matrix<T> dw;           // (p d, in)
  vec<T> db{nullptr, 0};  // (p d) or (0)
  epilogue<T> after{};    // of dx
};

namespace detail {
template <class T>
void expect_projected_triangle(triangle_options const& options, projected_triangle_operands<T> const& x,
                               graph_batch const& g, triangle_statistics<T const> const& s, matrix<T const> o) {
  index_t const rows = g.dims.rows, out = x.out(), parts = uses_right_value(options.form) ? 4 : 3;
  expect_extent("projected_triangle", "rows of x", x.rows(), rows);
  expect_shape("projected_triangle", "w", x.w, {out, x.x.extent(1)});
  TRIAD_EXPECTS(out % parts == 0, "projected_triangle: w has " + std::to_string(out) +
                                      " rows, expected a multiple of " + std::to_string(parts) +
                                      ", the projections of this form");
  expect_triangle<T const>(options, split_projections(options.form, make_matrix<T const>(nullptr, rows, out, out)), g);
  if (x.b.extent(0) != 0) expect_shape("projected_triangle", "b", x.b, {out});
  if (x.keeps()) expect_shape("projected_triangle", "projected", as_matrix(x.projected), {rows, out});
  expect_shape("projected_triangle", "o", o, {rows, out / parts});
  expect_statistics(options, g, s);
  expect_unit_stride("projected_triangle", "w", x.w);
  expect_unit_stride("projected_triangle", "o", o);
  TRIAD_EXPECTS(s.maximum.stride(0) == s.inverse_sum.stride(0),
                "projected_triangle: inverse_sum has a row stride of " + std::to_string(s.inverse_sum.stride(0)) +
                    ", expected " + std::to_string(s.maximum.stride(0)) + ", that of maximum");
}
template <class T>
void expect_gradients(projected_triangle_operands<T> const& x, projected_triangle_gradients<T> const& to) {
  expect_same_shape("projected_triangle_grad", "dw", to.dw, x.w);
  expect_shape("projected_triangle_grad", "db", to.db, {x.b.extent(0)});
  expect_unit_stride("projected_triangle_grad", "dw", to.dw);
  if (to.dx.extent(0) == 0) return;
  expect_product<T>(make_matrix<T const>(nullptr, x.rows(), x.out(), x.out()), x.w, to.dx, to.after);
  expect_unit_stride("projected_triangle_grad", "dx", to.dx);
  if (to.after.gate.extent(0) != 0) expect_unit_stride("projected_triangle_grad", "gate", to.after.gate);
  if (to.after.residual.extent(0) != 0) expect_unit_stride("projected_triangle_grad", "residual", to.after.residual);
  TRIAD_EXPECTS(is_separate(to.dx, matrix<T const>(as_matrix(x.x.values)), to.after.residual),
                "projected_triangle_grad: dx in the memory of x or of the residual, expected its own memory");
}

/// The projections in a workspace, and what is left of the workspace.
template <class T>
struct projections_of_workspace {
  tensor<T, dyn, dyn> all;
  workspace rest;

  static std::size_t bytes(index_t rows, index_t out) {
    return arena_stride(static_cast<std::size_t>(rows * out) * sizeof(T));
  }
  projections_of_workspace(workspace ws, index_t rows, index_t out)
      : all(reinterpret_cast<T*>(ws.data), extents<dyn, dyn>(rows, out)) {
    auto const used = bytes(rows, out);
    rest = {ws.data == nullptr ? nullptr : ws.data + used, ws.bytes - used};
  }
  /// The projections that the caller keeps, or else room for them in the workspace.
  projections_of_workspace(projected_triangle_operands<T> const& x, workspace ws)
      : projections_of_workspace(x.keeps() ? projections_of_workspace(x.projected, ws)
                                           : projections_of_workspace(ws, x.rows(), x.out())) {}

 private:
  projections_of_workspace(tensor<T, dyn, dyn> kept, workspace ws) : all(kept), rest(ws) {}
};
}  // namespace detail

/// Computes triangular attention of every edge.  Overwrites o (rows, d), both statistics (rows, h), and the projections
/// if they are kept.  As in ops/triangle.hpp, o and the projections need `arena_slack` readable bytes after their last
/// row.
template <backend Ex, class T>
void projected_triangle(Ex& ex, arena& scratch, triangle_options const& options,
                        projected_triangle_operands<T> const& x, graph_batch const& g, triangle_statistics<T> const& s,
                        matrix<T> o) {
  detail::expect_projected_triangle<T>(options, x, g, {s.maximum, s.inverse_sum}, o);
  with_workspace(ex, scratch, do_projected_triangle_workspace(planning(ex), options, x, g.dims),
                 [&](auto ws) { do_projected_triangle(ex, options, x, g, s, o, ws); });
}

/// Computes the gradients from d_o (rows, d).  o (rows, d) and the statistics (rows, h) are those of the forward pass.
/// Overwrites dx, if it has rows, then applies `after` to dx, and adds to dw and db.  dx must have its own memory.  o,
/// d_o and the projections need `arena_slack` readable bytes after their last row.
template <backend Ex, class T>
void projected_triangle_grad(Ex& ex, arena& scratch, triangle_options const& options,
                             projected_triangle_operands<T> const& x, graph_batch const& g,
                             triangle_statistics<T const> const& s, matrix<T const> o, matrix<T const> d_o,
                             projected_triangle_gradients<T> const& to) {
  detail::expect_projected_triangle<T>(options, x, g, s, o);
  expect_same_shape("projected_triangle_grad", "d_o", d_o, o);
  expect_unit_stride("projected_triangle_grad", "d_o", d_o);
  detail::expect_gradients(x, to);
  with_workspace(ex, scratch, do_projected_triangle_grad_workspace(planning(ex), options, x, g.dims),
                 [&](auto ws) { do_projected_triangle_grad(ex, options, x, g, s, o, d_o, to, ws); });
}

/// The workspace of projected_triangle_by_parts().
template <class Ex, class T>
std::size_t parts_of_projected_triangle_workspace(Ex& ex, triangle_options const& options,
                                                  projected_triangle_operands<T> const& x, graph_dims const& dims) {
  using projections = detail::projections_of_workspace<T>;
  projections const at({}, dims.rows, x.out());
  return (x.keeps() ? 0 : projections::bytes(dims.rows, x.out())) +
         do_triangle_workspace(ex, options, split_projections(options.form, as_matrix(read_only(at.all))), dims);
}
/// Computes the projections, and then the triangle.  A backend without a faster way calls this function in its hook.
template <class Ex, class T>
void projected_triangle_by_parts(Ex& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                                 graph_batch const& g, triangle_statistics<T> const& s, matrix<T> o, workspace ws) {
  detail::projections_of_workspace<T> const projected(x, ws);
  matmul_kept(ex, x.x, transposed(x.w), kept_factor<T>(projected.all), {.bias = x.b});
  do_triangle(ex, options, split_projections(options.form, as_matrix(read_only(projected.all))), g, s, o,
              projected.rest);
}

/// The workspace of projected_triangle_grad_by_parts().
template <class Ex, class T>
std::size_t parts_of_projected_triangle_grad_workspace(Ex& ex, triangle_options const& options,
                                                       projected_triangle_operands<T> const& x,
                                                       graph_dims const& dims) {
  using projections = detail::projections_of_workspace<T>;
  projections const at({}, dims.rows, x.out());
  index_t const in = x.x.extent(1);
  linear_grad_operands<T> const grad{.x = make_matrix<T const>(nullptr, dims.rows, in, in),
                                     .w = x.w,
                                     .dy = as_matrix(read_only(at.all)),
                                     .dx = make_matrix<T>(nullptr, dims.rows, in, in),
                                     .dw = make_matrix<T>(nullptr, x.out(), in, in),
                                     .db = make_vec<T>(nullptr, x.b.extent(0))};
  return projections::bytes(dims.rows, x.out()) * (x.keeps() ? 1 : 2) +
         std::max(do_triangle_grad_workspace(ex, options, split_projections(options.form, as_matrix(read_only(at.all))),
                                             split_projections(options.form, as_matrix(at.all)), dims),
                  do_linear_grad_workspace(ex, grad));
}
/// Computes the gradients one after the other.
template <class Ex, class T>
void projected_triangle_grad_by_parts(Ex& ex, triangle_options const& options, projected_triangle_operands<T> const& x,
                                      graph_batch const& g, triangle_statistics<T const> const& s, matrix<T const> o,
                                      matrix<T const> d_o, projected_triangle_gradients<T> const& to, workspace ws) {
  detail::projections_of_workspace<T> const gradient(ws, x.rows(), x.out());
  detail::projections_of_workspace<T> const projected(x, gradient.rest);
  if (!x.keeps()) matmul_kept(ex, x.x, transposed(x.w), kept_factor<T>(projected.all), {.bias = x.b});
  do_triangle_grad(ex, options, split_projections(options.form, as_matrix(read_only(projected.all))), g, s, o, d_o,
                   split_projections(options.form, as_matrix(gradient.all)), projected.rest);
  do_linear_grad(ex,
                 linear_grad_operands<T>{as_matrix(x.x.values), x.w, as_matrix(read_only(gradient.all)), to.dx, to.dw,
                                         to.db, to.after, as_matrix(x.x.rounded)},
                 projected.rest);
}

}  // namespace triad
