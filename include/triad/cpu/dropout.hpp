// Dropout with rows in parallel.  Sixteen counters are computed at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/elementwise.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/reference/dropout.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {
/// Calls f(one, r, drop) for each row r.  `one` is a backend of this thread, and drop(from, to) applies dropout to the
/// row.
template <class T, class F>
void each_dropped_row(backend& ex, dropout_mask mask, index_t rows, index_t columns, F const& f) {
  keep_source const source(mask);
  parallel_rows(ex, rows, 64, [&](index_t first, index_t count, int) {
    backend one(1);
    for (index_t r = first; r < first + count; ++r)
      f(one, r, [&](T const* from, T* to) { drop_row(source, T(mask.scale()), r, columns, from, to); });
  });
}
}  // namespace detail

template <class T>
void do_dropout(backend& ex, dropout_mask mask, matrix<T const> x, matrix<T> y) {
  if (!mask.active() || x.stride(1) != 1 || y.stride(1) != 1) return reference::do_dropout(ex, mask, x, y);
  detail::each_dropped_row<T>(ex, mask, x.extent(0), x.extent(1),
                              [&](backend&, index_t r, auto const& drop) { drop(&x(r, 0), &y(r, 0)); });
}

/// The function and the mask are applied to a row while it is in the first-level cache.  A derived backend may have
/// functions or dropout of its own, so it computes one after the other.
template <std::derived_from<backend> Ex, class F, class T>
void do_dropout_of(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T> y) {
  if constexpr (!std::same_as<Ex, backend>) {
    dropout_of_by_parts(ex, mask, f, x, y);
  } else {
    index_t const d = x.extent(1);
    detail::each_dropped_row<T>(ex, mask, x.extent(0), d, [&](backend& one, index_t r, auto const& drop) {
      do_transform(one, f, make_vec<T const>(&x(r, 0), d), make_vec(&y(r, 0), d));
      drop(&y(r, 0), &y(r, 0));
    });
  }
}
template <std::derived_from<backend> Ex, class F, class T>
void do_dropout_of_grad(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T const> dy, matrix<T> dx) {
  if constexpr (!std::same_as<Ex, backend>) {
    dropout_of_grad_by_parts(ex, mask, f, x, dy, dx);
  } else {
    index_t const d = x.extent(1);
    detail::each_dropped_row<T>(ex, mask, x.extent(0), d, [&](backend& one, index_t r, auto const& drop) {
      auto const row = make_vec(&dx(r, 0), d);
      drop(&dy(r, 0), row.data_handle());
      do_transform(one, f, make_vec<T const>(&x(r, 0), d), vec<T const>(row), row);
    });
  }
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
