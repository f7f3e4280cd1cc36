// Matrix products with an epilogue: bias, relu, dropout, residual, gate.
// SPDX-License-Identifier: Apache-2.0
//
//   c = a b                     a (m, k), b (k, n), c (m, n), any strides: a transpose is a view
//   c = residual + drop(gate(relu(a b + bias)))      with all parts of an epilogue, in this order
//   da = dc b',  db = a' dc     the gradients, which are matrix products too
//
// A NaN or an infinity in a or b affects every element of c that is computed from this value, even if the value is
// multiplied by 0.  The function relu keeps NaN.  A dropped element becomes 0 even if it is NaN.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/kept_factor.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// A batch of matrices of any strides: (batch, rows, columns).
template <class T>
using matrices = ::cuda::std::mdspan<T, extents<dyn, dyn, dyn>, ::cuda::std::layout_stride, element_access<T>>;

/// Returns a view of a batch in memory that the caller owns.  Strides are in elements.
template <class T>
constexpr matrices<T> make_matrices(T* data, index_t batch, index_t rows, index_t columns, index_t batch_stride,
                                    index_t row_stride, index_t column_stride = 1) {
  using mapping = typename matrices<T>::mapping_type;
  return matrices<T>(data, mapping(extents<dyn, dyn, dyn>(batch, rows, columns),
                                   ::cuda::std::array<index_t, 3>{batch_stride, row_stride, column_stride}));
}

/// Returns the i-th matrix of a batch.
template <class T>
constexpr matrix<T> matrix_of(matrices<T> const& batch, index_t i) {
  return make_matrix(batch.data_handle() + i * batch.stride(0), batch.extent(1), batch.extent(2), batch.stride(1),
                     batch.stride(2));
}

/// The norm of the rows of a product c (m, n), and where its results are written.  Without rows of y, there is no norm.
template <class T>
struct following_norm {
  vec<T const> gain{nullptr, 0}, bias{nullptr, 0};  // (n) each
  T epsilon{};
  matrix<T> y = no_matrix<T>();               // (m, n)
  vec<T> mean{nullptr, 0}, rstd{nullptr, 0};  // (m) each

  constexpr bool empty() const { return y.extent(0) == 0; }
};

/// Operations on the result of a product.  They are applied to each row while the row is still in cache.  An operation
/// is skipped if its view is empty or its flag is false.
template <class T>
struct epilogue {
  vec<T const> bias{nullptr, 0};  // (n)
  bool relu = false;
  matrix<T const> gate = no_matrix<T const>();  // (m, n): multiplies by gate_scale if the gate is positive or NaN, else
                                                // by 0, for the gradient of dropout after relu
  T gate_scale = T(1);
  dropout_mask dropout{};                           // dropout_element(row, column, n) numbers the elements
  matrix<T const> residual = no_matrix<T const>();  // (m, n), may be c itself
  following_norm<T> norm{};                         // of c, with the other operations; only matmul_norm() takes it

  /// Whether nothing changes c.  A norm does not change it.
  constexpr bool empty() const {
    return bias.extent(0) == 0 && !relu && gate.extent(0) == 0 && !dropout.active() && residual.extent(0) == 0;
  }
};

namespace detail {
/// Checks the shapes of a product.  This function takes views with dynamic extents, so that it is compiled once for all
/// static shapes.
template <class T>
void expect_product(matrix<T const> x, matrix<T const> w, matrix<T> y, epilogue<T> const& e) {
  expect_extent("matmul", "rows of b", w.extent(0), x.extent(1));
  expect_shape("matmul", "c", y, {x.extent(0), w.extent(1)});
  if (e.bias.extent(0) != 0) expect_shape("matmul", "bias", e.bias, {y.extent(1)});
  if (e.residual.data_handle() != nullptr) expect_same_shape("matmul", "residual", e.residual, y);
  if (e.gate.data_handle() != nullptr) expect_same_shape("matmul", "gate", e.gate, y);
  expect_rate("matmul", e.dropout);
  TRIAD_EXPECTS(e.norm.empty(), "matmul: a norm follows, expected none; call matmul_norm()");
}

template <bool Accumulate, class Ex, class A, class B, class C>
void matmul_checked(Ex& ex, A a, B b, C c, epilogue<element_t<C>> const& e) {
  using T = element_t<C>;
  static_assert(std::is_same_v<element_t<A>, T> && std::is_same_v<element_t<B>, T>,
                "matmul: a, b and c have different element types: make all of them float or all double");
  static_assert(!extents_clash<A, 1, B, 0>(), "matmul: the columns of a differ from the rows of b");
  static_assert(!extents_clash<A, 0, C, 0>(), "matmul: the rows of a differ from the rows of c");
  static_assert(!extents_clash<B, 1, C, 1>(), "matmul: the columns of b differ from the columns of c");
  matrix<T const> const x = as_matrix(a), w = as_matrix(b);
  matrix<T> const y = as_matrix(c);
  expect_product<T>(x, w, y, e);
  if constexpr (executes<Ex>) do_matmul(ex, x, w, y, Accumulate, e);
}
}  // namespace detail

/// Computes c = a b, then applies the epilogue.  Overwrites c.
template <backend Ex, class A, class B, class C>
void matmul(Ex& ex, A a, B b, C c, epilogue<element_t<C>> const& e = {}) {
  detail::matmul_checked<false>(ex, a, b, c, e);
}

/// Computes c = a b, then applies the epilogue.  Overwrites c.  a and c may be stored in bfloat16, if the backend
/// rounds the factors of this product.
template <backend Ex, class T, index_t K, class B, index_t N>
void matmul_kept(Ex& ex, kept_factor<T const, K> const& a, B b, kept_factor<T, N> const& c, epilogue<T> const& e = {}) {
  if (!a.is_rounded() && !c.is_rounded()) return matmul(ex, a.values, b, c.values, e);
  expect_extent("matmul", "rows of b", b.extent(0), a.extent(1));
  expect_extent("matmul", "rows of c", c.extent(0), a.extent(0));
  expect_extent("matmul", "columns of c", c.extent(1), b.extent(1));
  if constexpr (rounds_factors<Ex> && std::same_as<T, float>)
    do_matmul(ex, kept_factor<T const>(a), matrix<T const>(as_matrix(b)), kept_factor<T>(c), e);
}

/// Adds a b to c.
template <backend Ex, class A, class B, class C>
void matmul_add(Ex& ex, A a, B b, C c) {
  detail::matmul_checked<true>(ex, a, b, c, {});
}

/// Computes c(i) = a(i) b(i) for every i of a batch.  Overwrites c.
template <backend Ex, class T>
void batched_matmul(Ex& ex, matrices<T const> a, matrices<T const> b, matrices<T> c) {
  expect_extent("batched_matmul", "matrices of a", a.extent(0), c.extent(0));
  expect_extent("batched_matmul", "matrices of b", b.extent(0), c.extent(0));
  expect_extent("batched_matmul", "rows of b", b.extent(1), a.extent(2));
  expect_shape("batched_matmul", "c", c, {c.extent(0), a.extent(1), b.extent(2)});
  if constexpr (executes<Ex>) do_batched_matmul(ex, a, b, c);
}

}  // namespace triad
