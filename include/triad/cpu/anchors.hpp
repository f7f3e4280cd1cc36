// Anchors of slots.  Sentences are computed in parallel.  A sentence has few slots, so the loops of the reference are
// fast enough.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/parallel.hpp"
#include "triad/reference/anchors.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

template <class T>
void do_anchors(backend& ex, anchor_grids const& g, vec<T const> score, vec<T const> none, vec<T const> heads,
                vec<T> anchor, vec<T> absent, vec<T> mix) {
  triad::detail::expect_anchored(g);
  parallel_for(ex, g.nodes.dims.graphs,
               [&](index_t graph, int) { reference::anchors_of(g, graph, score, none, heads, anchor, absent, mix); });
}

template <class T>
void do_anchors_grad(backend& ex, anchor_grids const& g, vec<T const> anchor, vec<T const> absent, vec<T const> heads,
                     vec<T const> dmix, vec<T> dscore, vec<T> dnone, vec<T> d_heads) {
  triad::detail::expect_anchored(g);
  parallel_for(ex, g.nodes.dims.graphs, [&](index_t graph, int) {
    reference::anchors_grad_of(g, graph, anchor, absent, heads, dmix, dscore, dnone, d_heads);
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
