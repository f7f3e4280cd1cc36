// Adam in parallel chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/elementwise.hpp"
#include "triad/reference/adam.hpp"

namespace triad::cpu {

template <class T>
void do_adam(backend& ex, adam_settings const& s, vec<double const> rate, std::uint64_t const* step, vec<T> p, vec<T const> g, vec<T> m, vec<T> v) {
  parallel_rows(ex, p.extent(0), elementwise_chunk, [&](index_t first, index_t count, int) {
    auto const part = [=](auto w) { return decltype(w)(w.data_handle() + first, count); };
    reference::do_adam(static_cast<reference::backend&>(ex), s, rate, step, part(p), part(g), part(m), part(v));
  });
}

}  // namespace triad::cpu
