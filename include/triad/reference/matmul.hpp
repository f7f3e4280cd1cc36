// Matrix products, directly from their definition in ops/matmul.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/math.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

/// Applies the epilogue to one element: returns c(i, j), given the element `value` of the product.
template <class T>
T finish(epilogue<T> const& e, index_t i, index_t j, index_t columns, T value) {
  if (e.bias.extent(0) != 0) value += e.bias(j);
  if (e.relu) value = relu{}(value);
  if (e.gate.extent(0) != 0) value = relu_grad{}(e.gate(i, j), value * e.gate_scale);
  if (e.dropout.active()) value = e.dropout.keeps(dropout_element(i, j, columns)) ? value * T(e.dropout.scale()) : T(0);
  if (e.residual.extent(0) != 0) value += e.residual(i, j);
  return value;
}

template <class T>
void do_matmul(backend&, matrix<T const> a, matrix<T const> b, matrix<T> c, bool accumulate, epilogue<T> const& e) {
  for (index_t i = 0; i < c.extent(0); ++i)
    for (index_t j = 0; j < c.extent(1); ++j) {
      T value = accumulate ? c(i, j) : T(0);
      for (index_t k = 0; k < a.extent(1); ++k) value += a(i, k) * b(k, j);
      c(i, j) = finish(e, i, j, c.extent(1), value);
    }
}

template <class T>
void do_batched_matmul(backend&, matrices<T const> a, matrices<T const> b, matrices<T> c) {
  for (index_t n = 0; n < c.extent(0); ++n)
    for (index_t i = 0; i < c.extent(1); ++i)
      for (index_t j = 0; j < c.extent(2); ++j) {
        T value = 0;
        for (index_t k = 0; k < a.extent(2); ++k) value += a(n, i, k) * b(n, k, j);
        c(n, i, j) = value;
      }
}

}  // namespace triad::TRIAD_REFERENCE
