// A backend that computes as the cpu backend does and counts what it computes.
// SPDX-License-Identifier: Apache-2.0
//
//   product (m, k) (k, n)       2 m n k
//   triangle, forward           5 n^3 d a graph: score 2, output 3 (v1 v2, times p, added)
//   triangle, backward         14 n^3 d: score again 2, dp 3, dv1 and dv2 5, dq 2, dk 2
//
// Exponentials, norms, dropout and what else is linear in the number of values are not counted.
#pragma once

#include "triad/cpu/cpu.hpp"

namespace counting {

/// Whatever is not overridden below is found in triad::cpu, and then in triad::reference.
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
