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

/// Applies the epilogue to a block of c, row by row.  The rows of the block begin at `block` and are `step` elements
/// apart.  If `gate` is not empty, it is the gate of the epilogue in bfloat16, and has the element type bfloat16.
template <class T>
void finish_block(epilogue<T> const& e, T* block, index_t step, index_t row, index_t rows, index_t column,
                  index_t columns, matrix<bfloat16 const> rounded_gate = no_matrix<bfloat16 const>()) {
  bool const drop = e.dropout.active();
  keep_source const kept(e.dropout);
  T const scale = T(e.dropout.scale());
  for (index_t r = row; r < row + rows; ++r) {
    T* const y = block + (r - row) * step;
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
    if constexpr (std::same_as<T, float>)
      if (rounded_gate.extent(0) != 0) {
        bfloat16 const* const gate = &rounded_gate(r, column);
        float const gate_scale = e.gate_scale;
#pragma omp simd
        for (index_t i = 0; i < columns; ++i) y[i] = relu_grad{}(from_bfloat16(gate[i]), y[i] * gate_scale);
      }
    if (drop) drop_row(kept, scale, r, columns, y, y);
    if (e.residual.extent(0) != 0) {
      T const* const residual = &e.residual(r, column);
#pragma omp simd
      for (index_t i = 0; i < columns; ++i) y[i] += residual[i];
    }
  }
}

#if defined(TRIAD_KERNELS)
TRIAD_KERNELS template void finish_block<float>(epilogue<float> const&, float*, index_t, index_t, index_t, index_t,
                                                index_t, matrix<bfloat16 const>);
#endif

inline stored_factor factor_of(matrix<float const> x) {
  blas_layout const layout(x);
  return {x.data_handle(), layout.transpose == CblasTrans ? factor_form::columns : factor_form::rows, layout.leading};
}
/// A contiguous factor, in float or in bfloat16.
inline stored_factor factor_of(kept_factor<float const> const& x) {
  index_t const columns = std::max<index_t>(1, x.extent(1));
  if (x.is_rounded()) return {nullptr, factor_form::rows, columns, x.rounded.data_handle()};
  return {x.values.data_handle(), factor_form::rows, columns};
}

/// The precision of the factors of a product.
inline arithmetic factors_of(backend const& ex, index_t n, index_t k) {
  return std::min(n, k) < ex.least_rounded ? arithmetic::float32 : ex.arithmetic;
}

/// Computes a product by ex.engine.  BLAS could read the operands as they are.
inline void multiply_by_engine(backend& ex, matrix<float const> a, matrix<float const> b, matrix<float> c, bool add,
                               epilogue<float> const& e) {
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1), step = blas_layout(c).leading;
  engine_task const task{.engine = *ex.engine,
                         .factors = factors_of(ex, n, k),
                         .m = m,
                         .n = n,
                         .k = k,
                         .a = factor_of(a),
                         .b = factor_of(b),
                         .c = c.data_handle(),
                         .ldc = step,
                         .add = add};
  auto const finish = [&](float* block, index_t row, index_t rows) {
    if (!e.empty()) finish_block(e, block, step, row, rows, 0, n);
  };
  task.expect_limits();
  if (is_long_sum(task)) return multiply_sums(ex, task, finish);
  multiply_rows(ex, task, finish);
}

/// Whether multiply_in_place() computes a product whose residual is c.
inline bool rounds_in_place(backend const& ex, matrix<float const> a, matrix<float const> b, matrix<float> c,
                            bool accumulate, epilogue<float> const& e) {
  return ex.engine != nullptr && !accumulate && a.extent(1) > 0 &&
         factors_of(ex, c.extent(1), a.extent(1)) == arithmetic::bf16 && blas_layout(a).fits && blas_layout(b).fits &&
         c.stride(1) == 1 && e.residual.stride(1) == 1 && (e.gate.extent(0) == 0 || e.gate.stride(1) == 1);
}
/// Computes a product whose factors are rounded, with a residual that is c.  A block of c is read before it is written.
inline void multiply_in_place(backend& ex, matrix<float const> a, matrix<float const> b, matrix<float> c,
                              epilogue<float> const& e) {
  index_t const n = c.extent(1);
  engine_task const task{.engine = *ex.engine,
                         .factors = arithmetic::bf16,
                         .m = c.extent(0),
                         .n = n,
                         .k = a.extent(1),
                         .a = factor_of(a),
                         .b = factor_of(b),
                         .c = nullptr,
                         .ldc = n,
                         .add = false};
  task.expect_limits();
  multiply_rows(ex, task, [&](float* block, index_t row, index_t rows) {
    finish_block(e, block, n, row, rows, 0, n);
    put_rows(block, n, rows, &c(row, 0), c.stride(0), false);
  });
}

/// Computes a product whose factors are rounded, if a is stored in bfloat16, or c, or both.
inline void multiply_kept(backend& ex, kept_factor<float const> const& a, matrix<float const> b,
                          kept_factor<float> const& c, epilogue<float> const& e) {
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1);
  engine_task const task{.engine = *ex.engine,
                         .factors = arithmetic::bf16,
                         .m = m,
                         .n = n,
                         .k = k,
                         .a = factor_of(a),
                         .b = factor_of(b),
                         .c = c.is_rounded() ? nullptr : c.values.data_handle(),
                         .ldc = n,
                         .add = false};
  task.expect_limits();
  multiply_rows(ex, task, [&](float* block, index_t row, index_t rows) {
    if (!e.empty()) finish_block(e, block, n, row, rows, 0, n);
    if (c.is_rounded()) round_matrix(block, n, rows, n, &c.rounded(row, 0), n, rows, n);
  });
}

/// Returns a copy of a kept factor in floats, which is valid until the calling thread asks for the next copy, or the
/// factor itself if it is not rounded.
inline matrix<float const> in_floats(backend& ex, kept_factor<float const> const& x) {
  if (!x.is_rounded()) return as_matrix(x.values);
  index_t const rows = x.extent(0), columns = x.extent(1);
  auto* const to = product_scratch_of<float>(scratch_use::widened, rows * columns);
  parallel_rows(ex, rows, 64, [&](index_t row, index_t count, int) {
    widen(&x.rounded(row, 0), count * columns, to + row * columns);
  });
  return make_matrix<float const>(to, rows, columns, columns);
}

}  // namespace detail

template <std::floating_point T>
void do_matmul(backend& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, bool accumulate, epilogue<T> const& e) {
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1);
  if (m == 0 || n == 0) return;
  // The residual is c itself, so the product is added to c, unless relu, a gate or dropout comes first.
  if (e.residual.extent(0) != 0 && e.residual.data_handle() == c.data_handle()) {
    if (accumulate || e.relu || e.gate.extent(0) != 0 || e.dropout.active()) {
      if constexpr (std::same_as<T, float>)
        if (detail::rounds_in_place(ex, a, b, c, accumulate, e)) return detail::multiply_in_place(ex, a, b, c, e);
      return reference::do_matmul(ex, a, b, c, accumulate, e);
    }
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
    if (!e.empty()) detail::finish_block(e, &c(row, column), lc.leading, row, rows, column, columns);
  });
}

/// A derived backend may have products of its own, so it computes with copies in floats.
template <std::derived_from<backend> Ex>
void do_matmul(Ex& ex, kept_factor<float const> const& a, matrix<float const> b, kept_factor<float> const& c,
               epilogue<float> const& e) {
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1);
  auto const by_rows = [](auto x) { return x.extent(0) == 0 || x.stride(1) == 1; };
  if constexpr (std::same_as<Ex, backend>)
    if (ex.engine != nullptr && k > 0 && detail::factors_of(ex, n, k) == arithmetic::bf16 &&
        detail::blas_layout(b).fits && by_rows(e.gate) && by_rows(e.residual) &&
        (c.is_rounded() || e.residual.data_handle() != c.values.data_handle()))
      return detail::multiply_kept(ex, a, b, c, e);
  auto const result = c.is_rounded()
                          ? make_matrix(detail::product_scratch_of<float>(detail::scratch_use::result, m * n), m, n, n)
                          : as_matrix(c.values);
  do_matmul(ex, detail::in_floats(ex, a), b, result, false, e);
  if (c.is_rounded())
    parallel_rows(ex, m, 64, [&](index_t row, index_t count, int) {
      round_matrix(&result(row, 0), n, count, n, &c.rounded(row, 0), n, count, n);
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
