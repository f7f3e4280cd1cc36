// The backend with which results are checked before they are timed.  It is the reference backend in double, with faster
// products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "compare.hpp"
#include "session.hpp"
#include "triad/cpu/kernels/parallel.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/reference/reference.hpp"

namespace bench {

/// The reference backend in double, with two changes: each product is one call of BLAS, and heads are computed in
/// parallel.  So a check takes seconds instead of minutes.  This backend shares no code with the timed backend.
struct checker : triad::reference::backend {};

inline void do_matmul(checker&, triad::matrix<double const> a, triad::matrix<double const> b, triad::matrix<double> c,
                      bool accumulate, triad::epilogue<double> const& e) {
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1);
  if (m == 0 || n == 0) return;
  auto const dense = [](triad::matrix<double const> x) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(x.extent(0) * x.extent(1)));
    for (index_t i = 0; i < x.extent(0); ++i)
      for (index_t j = 0; j < x.extent(1); ++j) values.push_back(x(i, j));
    return values;
  };
  auto const left = dense(a), right = dense(b);
  std::vector<double> sum(static_cast<std::size_t>(m * n));
  triad::cpu::blas_is_serial();
  index_t const part = (m + machine().threads - 1) / machine().threads;
  triad::cpu::parallel_rows(machine(), m, part, [&](index_t first, index_t count, int) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(count), static_cast<int>(n),
                static_cast<int>(k), 1.0, left.data() + first * k, static_cast<int>(k), right.data(),
                static_cast<int>(n), 0.0, sum.data() + first * n, static_cast<int>(n));
  });
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j)
      c(i, j) =
          triad::reference::finish(e, i, j, n, (accumulate ? c(i, j) : 0) + sum[static_cast<std::size_t>(i * n + j)]);
}

namespace detail {
/// Calls f(options of one head, head, columns of the head in a matrix) for each head.  With dropout, heads cannot be
/// computed separately, because dropout numbers the elements of all heads consecutively.
template <class F>
void each_head(triad::triangle_options const& t, index_t width, F&& f) {
  triad::cpu::parallel_for(machine(), t.heads, [&](index_t head, int) {
    auto one = t;
    one.heads = 1;
    f(one, head, [=](auto m) { return m.extent(1) == 0 ? m : triad::column_block(m, head * width, width); });
  });
}
template <class S>
triad::triangle_statistics<S> statistics_of(triad::triangle_statistics<S> const& s, index_t head) {
  return {triad::column_block(s.maximum, head, 1), triad::column_block(s.inverse_sum, head, 1)};
}
}  // namespace detail

inline void do_triangle(checker& ex, triad::triangle_options const& t,
                        triad::triangle_projections<double const> const& x, triad::graph_batch const& g,
                        triad::triangle_statistics<double> const& statistics, triad::matrix<double> o,
                        triad::workspace ws) {
  if (t.dropout.active()) return triad::reference::do_triangle(ex, t, x, g, statistics, o, ws);
  detail::each_head(t, x.query.extent(1) / t.heads, [&](auto const& one, index_t head, auto of) {
    triad::reference::do_triangle<double>(ex, one, {of(x.query), of(x.key), of(x.left_value), of(x.right_value)}, g,
                                          detail::statistics_of(statistics, head), of(o), ws);
  });
}

inline void do_triangle_grad(checker& ex, triad::triangle_options const& t,
                             triad::triangle_projections<double const> const& x, triad::graph_batch const& g,
                             triad::triangle_statistics<double const> const& statistics, triad::matrix<double const> o,
                             triad::matrix<double const> d_o, triad::triangle_projections<double> const& dx,
                             triad::workspace ws) {
  if (t.dropout.active()) return triad::reference::do_triangle_grad(ex, t, x, g, statistics, o, d_o, dx, ws);
  detail::each_head(t, x.query.extent(1) / t.heads, [&](auto const& one, index_t head, auto of) {
    triad::reference::do_triangle_grad<double>(ex, one, {of(x.query), of(x.key), of(x.left_value), of(x.right_value)},
                                               g, detail::statistics_of(statistics, head), of(o), of(d_o),
                                               {of(dx.query), of(dx.key), of(dx.left_value), of(dx.right_value)}, ws);
  });
}

}  // namespace bench
