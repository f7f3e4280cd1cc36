// Pointers between the members of a list.  Grids are computed in parallel.  A grid has few members, so the loops of the
// reference are fast enough.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/parallel.hpp"
#include "triad/reference/list_pointers.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_list_pointers(backend& ex, grid_batch const& g, vec<index_t const> members, list_pointer_options const& o,
                      vec<T const> score, matrix<T> powers) {
  triad::detail::expect_members(g, members);
  parallel_for(ex, g.dims.graphs,
               [&](index_t graph, int) { reference::list_pointers_of(g, graph, members(graph), o, score, powers); });
}

template <class T>
void do_list_pointers_grad(backend& ex, grid_batch const& g, vec<index_t const> members, list_pointer_options const& o,
                           matrix<T const> powers, vec<T const> d_heads, vec<T const> d_links, vec<T> dscore,
                           matrix<T> d) {
  triad::detail::expect_members(g, members);
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    reference::list_pointers_grad_of(g, graph, members(graph), o, powers, d_heads, d_links, dscore, d);
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
