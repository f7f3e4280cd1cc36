// Dropout with rows in parallel.  Sixteen counters are computed at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/elementwise.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/reference/dropout.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_dropout(backend& ex, dropout_mask mask, matrix<T const> x, matrix<T> y) {
  if (!mask.active() || x.stride(1) != 1 || y.stride(1) != 1) return reference::do_dropout(ex, mask, x, y);
  keep_source const source(mask);
  parallel_rows(ex, x.extent(0), 64, [=](index_t first, index_t count, int) {
    for (index_t r = first; r < first + count; ++r)
      drop_row(source, T(mask.scale()), r, x.extent(1), &x(r, 0), &y(r, 0));
  });
}

/// The function and the mask are applied to a row while it is in the first-level cache.  A derived backend may have
/// functions or dropout of its own, so it computes one after the other.
template <std::derived_from<backend> Ex, class F, class T>
void do_dropout_of(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T> y) {
  if constexpr (!std::same_as<Ex, backend>) {
    dropout_of_by_parts(ex, mask, f, x, y);
  } else {
    keep_source const source(mask);
    index_t const d = x.extent(1);
    parallel_rows(ex, x.extent(0), 64, [&](index_t first, index_t count, int) {
      backend one(1);
      for (index_t r = first; r < first + count; ++r) {
        do_transform(one, f, make_vec<T const>(&x(r, 0), d), make_vec(&y(r, 0), d));
        drop_row(source, T(mask.scale()), r, d, &y(r, 0), &y(r, 0));
      }
    });
  }
}
template <std::derived_from<backend> Ex, class F, class T>
void do_dropout_of_grad(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T const> dy, matrix<T> dx) {
  if constexpr (!std::same_as<Ex, backend>) {
    dropout_of_grad_by_parts(ex, mask, f, x, dy, dx);
  } else {
    keep_source const source(mask);
    index_t const d = x.extent(1);
    parallel_rows(ex, x.extent(0), 64, [&](index_t first, index_t count, int) {
      backend one(1);
      for (index_t r = first; r < first + count; ++r) {
        auto const row = make_vec(&dx(r, 0), d);
        drop_row(source, T(mask.scale()), r, d, &dy(r, 0), &dx(r, 0));
        do_transform(one, f, make_vec<T const>(&x(r, 0), d), vec<T const>(row), row);
      }
    });
  }
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
