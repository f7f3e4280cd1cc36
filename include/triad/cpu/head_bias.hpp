// Biases of heads, with rows in parallel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/reference/head_bias.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_head_bias_add(backend& ex, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T, dyn, dyn> y) {
  index_t const d = y.extent(1), heads = s.extent(1);
  backend one(1);
  parallel_rows(ex, y.extent(0), 64, [&](index_t first, index_t count, int) {
    reference::do_head_bias_add(one, tensor<T const, dyn, dyn>(s.data_handle() + first * heads, count, heads), b,
                                tensor<T, dyn, dyn>(y.data_handle() + first * d, count, d));
  });
}

template <class T>
void do_head_bias_grad(backend& ex, tensor<T const, dyn, dyn> s, vec<T const> b, tensor<T const, dyn, dyn> dy,
                       tensor<T, dyn, dyn> ds, tensor<T, dyn, dyn> measured) {
  index_t const d = dy.extent(1), heads = s.extent(1);
  backend one(1);
  parallel_rows(ex, dy.extent(0), 64, [&](index_t first, index_t count, int) {
    auto const rows = [&](auto v, index_t width) { return decltype(v)(v.data_handle() + first * width, count, width); };
    reference::do_head_bias_grad(one, rows(s, heads), b, rows(dy, d), rows(ds, heads), rows(measured, d));
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
