// Matrix products.  cuBLAS computes a product if the strides allow it, and then one kernel computes the epilogue.
// SPDX-License-Identifier: Apache-2.0
//
//   1  c = a b, or c += a b        cuBLAS; row-major c = a b is column-major c' = b' a', a transpose is a flag
//   2  and an epilogue             in float, cublasLt computes a part of it with the product: the bias, and the
//                                  residual if it comes next; one kernel over c does the rest
//   3  strides, sizes or aliasing
//      that cuBLAS does not take   plain_product: tiles in shared memory, with the epilogue; slow, correct for all
//
// In tf32x3, each element is the sum of a low and a high part.  Each product of two elements becomes three products:
// (low, high, high) of a with (high, low, high) of b.  cuBLAS multiplies in tf32, which represents each part exactly.
#pragma once

#include "triad/core/math.hpp"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/device/blas_lt.cuh"
#include "triad/cuda/device/rounding.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/ops/matmul.hpp"

namespace triad::cuda {

namespace detail {

/// Applies the epilogue to `value`, the element (i, j) of the product.  Returns the new value of c(i, j).
template <class T>
TRIAD_DEVICE T finish(epilogue<T> const& e, drop_rule<T> const& drop, index_t i, index_t j, bool kept, T value) {
  if (e.bias.extent(0) != 0) value += e.bias(j);
  if (e.relu) value = relu{}(value);
  if (e.gate.extent(0) != 0) value = relu_grad{}(e.gate(i, j), value * e.gate_scale);
  if (drop.active) value = drop(value, kept);
  if (e.residual.extent(0) != 0) value += e.residual(i, j);
  return value;
}

template <class T>
struct finish_rows {
  static constexpr char const* name = "epilogue of matmul";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, epilogue<T> e, drop_rule<T> drop, matrix<T> c) const {
    row_span const span(b, c.extent(0), c.extent(1), drop);
    T v[4] = {};
    span.each([&](int w, index_t j) { v[w] = c(span.row(), j); });
    span.each([&](int w, index_t j) { c(span.row(), j) = finish(e, drop, span.row(), j, span.keeps(w), v[w]); });
  }
};

/// A batch of matrices with any strides, as a kernel reads it.
template <class T>
struct strided {
  T* data;
  index_t step, down, right;
  TRIAD_DEVICE T& operator()(index_t at, index_t i, index_t j) const { return data[at * step + i * down + j * right]; }
};
template <class T>
strided<T> make_strided(matrix<T> m) {
  return {m.data_handle(), 0, m.stride(0), m.stride(1)};
}
template <class T>
strided<T> make_strided(matrices<T> m) {
  return {m.data_handle(), m.stride(0), m.stride(1), m.stride(2)};
}

/// Computes c = a b and its epilogue.  A block computes 64 by 64 elements.  Thread t computes 4 by 4 of these elements,
/// in the rows t / 16 + 16 u and the columns t % 16 + 16 v.
template <class T>
struct plain_product {
  static constexpr char const* name = "plain product";
  static constexpr int threads = 256, tile = 64, depth = 16, each = 4;
  struct shared {
    T a[depth][tile + 1], b[depth][tile + 1];
  };

  TRIAD_DEVICE void operator()(block const& b, index_t m, index_t n, index_t k, strided<T const> x, strided<T const> y,
                               strided<T> c, bool accumulate, epilogue<T> e, drop_rule<T> drop) const {
    auto& s = b.shared<shared>();
    index_t const across = (n + tile - 1) / tile, down = (m + tile - 1) / tile, at = b.index() / (across * down);
    index_t const row = b.index() / across % down * tile, column = b.index() % across * tile;
    int const i = b.thread() / 16, j = b.thread() % 16;
    T sum[each][each] = {};
    for (index_t first = 0; first < k; first += depth) {
      for (int u = 0; u < each; ++u) {
        int const l = b.thread() + u * threads;  // one of the 1024 elements of each tile
        int const ar = l / depth, ac = l % depth, br = l / tile, bc = l % tile;
        s.a[ac][ar] = row + ar < m && first + ac < k ? x(at, row + ar, first + ac) : T(0);
        s.b[br][bc] = first + br < k && column + bc < n ? y(at, first + br, column + bc) : T(0);
      }
      b.sync();
      for (int l = 0; l < depth; ++l) {
        T left[each], right[each];
        TRIAD_UNROLL
        for (int u = 0; u < each; ++u) {
          left[u] = s.a[l][i + 16 * u];
          right[u] = s.b[l][j + 16 * u];
        }
        TRIAD_UNROLL
        for (int u = 0; u < each; ++u) {
          TRIAD_UNROLL
          for (int v = 0; v < each; ++v) sum[u][v] += left[u] * right[v];
        }
      }
      b.sync();
    }
    TRIAD_UNROLL
    for (int u = 0; u < each; ++u) {
      TRIAD_UNROLL
      for (int v = 0; v < each; ++v) {
        index_t const r = row + i + 16 * u, f = column + j + 16 * v;
        if (r >= m || f >= n) continue;
        bool const kept = !drop.active || drop.mask.keeps(dropout_element(r, f, n));
        T& to = c(at, r, f);
        to = finish(e, drop, r, f, kept, sum[u][v] + (accumulate ? to : T(0)));
      }
    }
  }
};

/// How cuBLAS reads a matrix.  cuBLAS is column-major, so it reads a row-major matrix as the transpose.
template <class T>
struct blas_layout {
  blas_operand<T> operand;  // of the transpose; `turned` if the matrix itself is column-major
  bool fits = false;        // false: cuBLAS cannot express these strides or sizes

  explicit blas_layout(strided<T> m, index_t rows, index_t columns) {
    constexpr index_t limit = 0x7fffffff;
    if (rows > limit || columns > limit || m.down > limit || m.right > limit) return;
    if ((m.right == 1 || columns == 1) && m.down >= columns)
      set(m, false, m.down);
    else if ((m.down == 1 || rows == 1) && m.right >= rows)
      set(m, true, m.right);
  }

 private:
  void set(strided<T> m, bool turned, index_t leading) {
    operand = {m.data, turned, leading > 0 ? static_cast<int>(leading) : 1, static_cast<long long>(m.step)};
    fits = true;
  }
};

/// Splits each element of a factor into a low and a high part.  Writes three matrices of parts, which are `step`
/// elements apart.  The parts are low, high, high if `low_first` is true, else high, low, high.
struct split_factor {
  static constexpr char const* name = "splitting a factor";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<float const> x, drop_rule<float> none, bool low_first,
                               matrix<float> parts, index_t step) const {
    row_span const span(b, x.extent(0), x.extent(1), none);
    rounding const round(arithmetic::tf32);
    span.each([&](int, index_t c) {
      float const v = x(span.row(), c), high = round(v), low = round(v - high);
      float* const to = &parts(span.row(), c);
      to[0] = low_first ? low : high;
      to[step] = low_first ? high : low;
      to[2 * step] = high;
    });
  }
};

/// The factors of a product as they are passed to cuBLAS.
template <class T>
struct blas_factors {
  strided<T const> a, b;
  index_t k;
  arithmetic how;
};

// Splitting reads the factors once and writes them three times.  If c has few columns or rows, splitting takes more
// time than tensor cores save.  We calculated the limit from the figures of an H100, and did not measure it.  The
// memory for the parts is limited too.
inline constexpr index_t least_split = 200;
constexpr bool pays_to_split(index_t m, index_t n, index_t k) {
  // A factor whose terms are rows has its rows padded to four.
  return m * n >= least_split * (m + n) && 12 * (k + 4) * (m + n + 6) <= static_cast<index_t>(most_split_bytes);
}

/// Returns the factors for cuBLAS.  In tf32x3, these are a and b split into parts, in the memory of the backend.  In
/// other arithmetic, or if pays_to_split() is false, the factors are a and b themselves.
template <class T>
blas_factors<T> factors_of(backend& ex, index_t m, index_t n, index_t k, strided<T const> a, strided<T const> b) {
  if constexpr (std::is_same_v<T, float>) {
    blas_layout<T const> const la(a, m, k), lb(b, k, n);
    if (ex.arithmetic() == arithmetic::tf32x3 && k > 0 && la.fits && lb.fits && pays_to_split(m, n, k)) {
      auto const padded = [](index_t columns) { return (columns + 3) / 4 * 4; };  // rows are aligned to 16 bytes
      auto const room = [&](bool terms_are_rows, index_t others) {
        return terms_are_rows ? 3 * k * padded(others) : others * padded(3 * k);
      };
      index_t const of_a = room(la.operand.turned, m), of_b = room(!lb.operand.turned, n);
      auto* const parts =
          static_cast<float*>(ex.split_factors().at_least(static_cast<std::size_t>(of_a + of_b) * sizeof(float)));
      auto const split = [&](blas_operand<float const> x, bool terms_are_rows, index_t others, bool low_first,
                             float* to) -> strided<float const> {
        index_t const rows = terms_are_rows ? k : others, columns = terms_are_rows ? others : k,
                      leading = terms_are_rows ? padded(others) : padded(3 * k);
        launch(ex, split_factor{}, blocks_for(spans_of(rows, columns), row_warps),
               make_matrix(x.data, rows, columns, x.leading), drop_rule<float>(dropout_mask{}), low_first,
               make_matrix(to, rows, columns, leading), terms_are_rows ? k * leading : k);
        return {to, 0, leading, 1};
      };
      auto x = split(la.operand, la.operand.turned, m, true, parts);
      auto const y = split(lb.operand, !lb.operand.turned, n, false, parts + of_a);
      auto const turn = [](strided<float const> s) { return strided<float const>{s.data, 0, s.right, s.down}; };
      return {la.operand.turned ? turn(x) : x, lb.operand.turned ? turn(y) : y, 3 * k, arithmetic::tf32};
    }
  }
  return {a, b, k, ex.arithmetic()};
}

/// Computes c = a b + beta c for `count` matrices by cuBLAS.  Returns false if cuBLAS does not take these strides or
/// sizes.
template <class T>
bool blas_product(backend& ex, arithmetic how, index_t count, index_t m, index_t n, index_t k, strided<T const> a,
                  strided<T const> b, T beta, strided<T> c) {
  blas_layout<T const> la(a, m, k), lb(b, k, n);
  blas_layout<T> const lc(c, m, n);
  if (k == 0 || count > 0x7fffffff || !la.fits || !lb.fits || !lc.fits) return false;
  int const rows = static_cast<int>(m), columns = static_cast<int>(n), terms = static_cast<int>(k),
            products = static_cast<int>(count);
  if (lc.operand.turned) {  // c itself is column-major: c = a b
    la.operand.turned = !la.operand.turned;
    lb.operand.turned = !lb.operand.turned;
    gemm(ex.blas(), how, {rows, columns, terms, products}, la.operand, lb.operand, beta, lc.operand);
  } else {  // c' = b' a'
    gemm(ex.blas(), how, {columns, rows, terms, products}, lb.operand, la.operand, beta, lc.operand);
  }
  return true;
}

/// Computes the product by cublasLt, which also adds the bias and, if possible, the residual.  Removes what was added
/// from `rest`.  Returns false if cublasLt cannot compute the product.
template <class T>
bool fused_with(backend& ex, arithmetic how, index_t m, index_t n, index_t k, strided<T const> a, strided<T const> b,
                bool accumulate, epilogue<T>& rest, strided<T> c) {
  if constexpr (std::is_same_v<T, float>) {
    blas_layout<T const> const la(a, m, k), lb(b, k, n);
    blas_layout<T> const lc(c, m, n);
    bool const biased = rest.bias.extent(0) != 0, shifted = rest.residual.extent(0) != 0;
    if ((!biased && !shifted) || k == 0 || !la.fits || !lb.fits || !lc.fits || lc.operand.turned)
      return false;  // if c is column-major, each column would need a bias
    // c' = b' a': columns become rows.
    fused_product p{{static_cast<int>(n), static_cast<int>(m), static_cast<int>(k)},
                    lb.operand,
                    la.operand,
                    {},
                    0,
                    nullptr,
                    lc.operand};
    if (biased) p.bias = rest.bias.data_handle();
    bool const last = !rest.relu && rest.gate.extent(0) == 0 && !rest.dropout.active();  // only the residual follows
    bool added = false;
    if (accumulate) {
      p.c = {c.data, false, lc.operand.leading};
      p.beta = 1;
    } else if (shifted && last) {
      blas_layout<T const> const residual(make_strided(rest.residual), m, n);
      added = residual.fits && !residual.operand.turned;
      if (added) p.c = residual.operand;
      if (added) p.beta = 1;
    }
    if (shifted && rest.residual.data_handle() == c.data && !added) return false;  // would overwrite the residual
    if (!biased && !added) return false;                                           // nothing to add
    if (!ex.fused().multiply(ex.blas(), ex.stream(), how, p)) return false;
    rest.bias = vec<T const>(nullptr, 0);
    if (added) rest.residual = no_matrix<T const>();
    return true;
  } else {
    return false;
  }
}

template <class T>
void launch_plain(backend& ex, index_t count, index_t m, index_t n, index_t k, strided<T const> a, strided<T const> b,
                  strided<T> c, bool accumulate, epilogue<T> const& e) {
  constexpr index_t tile = plain_product<T>::tile;
  launch(ex, plain_product<T>{}, count * blocks_for(m, tile) * blocks_for(n, tile), m, n, k, a, b, c, accumulate, e,
         drop_rule<T>(e.dropout));
}

/// Computes the product, and the steps of the epilogue that cuBLAS or plain_product computes with it.  Returns the
/// steps that are left.
template <class T>
epilogue<T> begin_product(backend& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, bool accumulate,
                          epilogue<T> const& e) {
  index_t const m = c.extent(0), n = c.extent(1), k = a.extent(1);
  if (m == 0 || n == 0) return {};
  check(cudaSetDevice(ex.device()), "choosing a device");
  auto const x = make_strided(a), y = make_strided(b);
  auto const z = make_strided(c);
  auto const plain = [&] {
    launch_plain(ex, 1, m, n, k, x, y, z, accumulate, e);
    return epilogue<T>{};
  };
  epilogue<T> rest = e;
  bool const onto_itself = e.residual.extent(0) != 0 && e.residual.data_handle() == c.data_handle();
  bool const between = e.relu || e.gate.extent(0) != 0 || e.dropout.active();
  // If c is the residual, cuBLAS would overwrite the residual before the steps between product and residual are done.
  if (onto_itself && (between || accumulate)) return plain();
  auto const f = factors_of<T>(ex, m, n, k, x, y);
  if (!fused_with(ex, f.how, m, n, f.k, f.a, f.b, accumulate, rest, z)) {
    if (onto_itself) rest.residual = no_matrix<T const>();
    T const beta = accumulate || onto_itself ? T(1) : T(0);
    if (!blas_product(ex, f.how, 1, m, n, f.k, f.a, f.b, beta, z)) return plain();
  }
  return rest;
}

/// Applies the steps of the epilogue that begin_product() left.
template <class T>
void finish_product(backend& ex, epilogue<T> const& rest, matrix<T> c) {
  if (!rest.empty())
    launch(ex, finish_rows<T>{}, blocks_for(spans_of(c.extent(0), c.extent(1)), row_warps), rest,
           drop_rule<T>(rest.dropout), c);
}

}  // namespace detail

template <class T>
void do_matmul(backend& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, bool accumulate, epilogue<T> const& e) {
  detail::finish_product(ex, detail::begin_product(ex, a, b, c, accumulate, e), c);
}

template <class T>
void do_batched_matmul(backend& ex, matrices<T const> a, matrices<T const> b, matrices<T> c) {
  index_t const count = c.extent(0), m = c.extent(1), n = c.extent(2), k = a.extent(2);
  if (count == 0 || m == 0 || n == 0) return;
  check(cudaSetDevice(ex.device()), "choosing a device");
  auto const x = detail::make_strided(a), y = detail::make_strided(b);
  auto const z = detail::make_strided(c);
  if (!detail::blas_product(ex, ex.arithmetic(), count, m, n, k, x, y, T(0), z))
    detail::launch_plain(ex, count, m, n, k, x, y, z, false, epilogue<T>{});
}

}  // namespace triad::cuda
