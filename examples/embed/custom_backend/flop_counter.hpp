// A backend that computes like the cpu backend and counts the flops.
// SPDX-License-Identifier: Apache-2.0
//
//   product (m, k) (k, n)       2 m n k
//   triangle, forward           5 n^3 d per graph: 2 for the score, 3 for the output (v1 v2, times p, added)
//   triangle, backward         14 n^3 d: 2 for the score again, 3 for dp, 5 for dv1 and dv2, 2 for dq, 2 for dk
//
// Exponentials, norms, dropout and other operations whose cost is linear in the number of values are not counted.
#pragma once

#include "triad/cpu/cpu.hpp"

namespace counting {

/// If a hook is not overridden below, the hook of triad::cpu is called, or that of triad::reference if triad::cpu has
/// none.
struct backend : triad::cpu::backend {
  using triad::cpu::backend::backend;
  double products = 0, triangles = 0;  // flops
};

template <class T>
void do_matmul(backend& ex, triad::matrix<T const> a, triad::matrix<T const> b, triad::matrix<T> c, bool accumulate,
               triad::epilogue<T> const& e) {
  ex.products +=
      2.0 * static_cast<double>(c.extent(0)) * static_cast<double>(c.extent(1)) * static_cast<double>(a.extent(1));
  do_matmul(static_cast<triad::cpu::backend&>(ex), a, b, c, accumulate, e);
}

template <class T>
void do_triangle(backend& ex, triad::triangle_options const& t, triad::triangle_projections<T const> const& x,
                 triad::graph_batch const& g, triad::triangle_statistics<T> const& statistics, triad::matrix<T> o,
                 triad::workspace ws) {
  ex.triangles += 5.0 * static_cast<double>(g.dims.triangles) * static_cast<double>(x.query.extent(1));
  do_triangle(static_cast<triad::cpu::backend&>(ex), t, x, g, statistics, o, ws);
}

template <class T>
void do_triangle_grad(backend& ex, triad::triangle_options const& t, triad::triangle_projections<T const> const& x,
                      triad::graph_batch const& g, triad::triangle_statistics<T const> const& statistics,
                      triad::matrix<T const> o, triad::matrix<T const> d_o, triad::triangle_projections<T> const& dx,
                      triad::workspace ws) {
  ex.triangles += 14.0 * static_cast<double>(g.dims.triangles) * static_cast<double>(x.query.extent(1));
  do_triangle_grad(static_cast<triad::cpu::backend&>(ex), t, x, g, statistics, o, d_o, dx, ws);
}

}  // namespace counting
