// Matrix products, which BLAS or an engine computes in blocks.  The sizes of the blocks depend on the shape alone.  The
// epilogue of a block is computed while the block is in the cache.
// SPDX-License-Identifier: Apache-2.0
//
// If BLAS itself uses several threads, the order of its sums depends on the number of threads.  So a product is cut
// into blocks whose sizes depend on the shape alone.  The threads of the cpu backend share the blocks, and BLAS
// computes each block with one thread.  The result has the same bits with any number of threads.
#pragma once

#include <algorithm>
#include <concepts>

#include "triad/core/math.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/cpu/products/blas.hpp"
#include "triad/cpu/products/blocks.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/reference/matmul.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// Splits `size` into parts of equal size, and returns the size of a part.  This size is a multiple of 16 near
/// `target`.
constexpr index_t even_block(index_t size, index_t target) {
  index_t const parts = std::max<index_t>(1, (size + target / 2) / target);
  return std::max<index_t>(16, ((size + parts - 1) / parts + 15) / 16 * 16);
}

/// The block sizes of a product of shape (m, n).  They depend on the shape alone.
struct product_blocks {
  index_t rows, columns;
  product_blocks(index_t m, index_t n) : rows(even_block(m, 384)), columns(n) {
    if (down(m) >= 8) return;
    // If there are few rows, as in weight gradients, the columns are cut too.
    columns = even_block(n, std::max<index_t>(96, n * down(m) / 8));
    if (auto const parts = across(n); parts > 1 && parts % 2 == 1 && down(m) % 2 == 1)
      columns = even_block(n, n / (parts + 1));  // makes the number of blocks even, for two threads
    if (auto const tasks = down(m) * across(n); tasks < 4) rows = even_block(m, std::max<index_t>(32, m * tasks / 4));
  }
  constexpr index_t down(index_t m) const { return (m + rows - 1) / rows; }
  constexpr index_t across(index_t n) const { return (n + columns - 1) / columns; }
};

/// Applies the epilogue to a block of c, row by row.
template <class T>
void finish_block(epilogue<T> const& e, matrix<T> c, index_t row, index_t rows, index_t column, index_t columns) {
  bool const drop = e.dropout.active();
  keep_source const kept(e.dropout);
  T const scale = T(e.dropout.scale());
  for (index_t r = row; r < row + rows; ++r) {
    T* const y = &c(r, column);
    if (e.bias.extent(0) != 0 || e.relu) {
      T const* const bias = e.bias.extent(0) != 0 ? &e.bias(column) : nullptr;
      if (bias && e.relu) {
#pragma omp simd
        for (index_t i = 0; i < columns; ++i) {
          T const v = y[i] + bias[i];
          y[i] = relu{}(v);
        }
      } else if (bias) {
#pragma omp simd
        for (index_t i = 0; i < columns; ++i) y[i] += bias[i];
      } else {
#pragma omp simd
        for (index_t i = 0; i < columns; ++i) y[i] = relu{}(y[i]);
      }
    }
    if (e.gate.extent(0) != 0) {
      T const* const gate = &e.gate(r, column);
      T const gate_scale = e.gate_scale;
#pragma omp simd
      for (index_t i = 0; i < columns; ++i) y[i] = relu_grad{}(gate[i], y[i] * gate_scale);
    }
    if (drop) drop_row(kept, scale, r, columns, y, y);
    if (e.residual.extent(0) != 0) {
      T const* const residual = &e.residual(r, column);
#pragma omp simd
      for (index_t i = 0; i < columns; ++i) y[i] += residual[i];
    }
  }
}

/// Computes a product by ex.engine.  BLAS could read the operands as they are.
inline void multiply_by_engine(backend& ex, matrix<float const> a, matrix<float const> b, matrix<float> c, bool add,
                               epilogue<float> const& e) {
  auto const factor = [](matrix<float const> x, blas_layout const& layout) {
    return float_factor{x.data_handle(), layout.transpose == CblasTrans ? factor_form::columns : factor_form::rows,
                        layout.leading};
  };
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1);
  blas_layout const lc(c);
  engine_task const task{.engine = *ex.engine,
                         .factors = std::min(n, k) < least_bf16_extent ? arithmetic::float32 : ex.arithmetic,
                         .m = m,
                         .n = n,
                         .k = k,
                         .a = factor(a, blas_layout(a)),
                         .b = factor(b, blas_layout(b)),
                         .c = c.data_handle(),
                         .ldc = lc.leading,
                         .add = add};
  auto const finish = [&](index_t row, index_t rows) {
    if (!e.empty()) finish_block(e, c, row, rows, 0, n);
  };
  task.expect_limits();
  if (is_long_sum(task)) return multiply_sums(ex, task, finish);
  multiply_rows(ex, task, finish);
}

}  // namespace detail

template <std::floating_point T>
void do_matmul(backend& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, bool accumulate, epilogue<T> const& e) {
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1);
  if (m == 0 || n == 0) return;
  // The residual is c itself, so the product is added to c.
  if (e.residual.extent(0) != 0 && e.residual.data_handle() == c.data_handle()) {
    if (accumulate || e.relu || e.gate.extent(0) != 0 || e.dropout.active())
      return reference::do_matmul(ex, a, b, c, accumulate, e);
    epilogue<T> rest = e;
    rest.residual = no_matrix<T const>();
    return do_matmul(ex, a, b, c, true, rest);
  }
  detail::blas_layout const la(a), lb(b), lc(c);
  bool const rows_are_contiguous =
      (e.gate.extent(0) == 0 || e.gate.stride(1) == 1) && (e.residual.extent(0) == 0 || e.residual.stride(1) == 1);
  if (lc.fits && lc.transpose == CblasTrans && e.empty())  // c' = b' a'
    return do_matmul(ex, matrix<T const>(transposed(b)), matrix<T const>(transposed(a)), transposed(c), accumulate, e);
  if (!la.fits || !lb.fits || !lc.fits || lc.transpose == CblasTrans || k == 0 || !rows_are_contiguous)
    return reference::do_matmul(ex, a, b, c, accumulate, e);
  if constexpr (std::same_as<T, float>)
    if (ex.engine != nullptr) return detail::multiply_by_engine(ex, a, b, c, accumulate, e);
  blas_is_serial();
  detail::product_blocks block(m, n);
  if (e.dropout.active()) block.columns = n;  // because drop_row needs whole rows
  index_t const down = block.down(m), across = block.across(n);
  parallel_for(ex, down * across, [&](index_t task, int) {
    index_t const row = task / across * block.rows, column = task % across * block.columns;
    index_t const rows = std::min(block.rows, m - row), columns = std::min(block.columns, n - column);
    detail::gemm(la.transpose, lb.transpose, static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(k),
                 &a(row, 0), la.leading, &b(0, column), lb.leading, accumulate ? T(1) : T(0), &c(row, column),
                 lc.leading);
    if (!e.empty()) detail::finish_block(e, c, row, rows, column, columns);
  });
}

template <std::floating_point T>
void do_batched_matmul(backend& ex, matrices<T const> a, matrices<T const> b, matrices<T> c) {
  auto const product = [&](backend& on, index_t i) {
    do_matmul(on, matrix_of(a, i), matrix_of(b, i), matrix_of(c, i), false, epilogue<T>{});
  };
  backend one = ex;
  one.threads = 1;
  without_denormals const here;    // as in the other threads that run products
  if (c.extent(0) < ex.threads) {  // few products: all threads share each product
    for (index_t i = 0; i < c.extent(0); ++i) product(ex, i);
    return;
  }
  parallel_for(ex, c.extent(0), [&](index_t i, int) { product(one, i); });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
