// One step of causal triangular attention.  Each graph gets one more node, and only the edges of the new node are
// computed.  The operation has no gradient.
// SPDX-License-Identifier: Apache-2.0
//
// In causal triangular attention (ops/triangle.hpp with `sources`) the first s nodes of a graph are sources.  Edge (i,
// j) has only the middle nodes l < max(s, i + 1, j + 1), so its result does not change once node max(i, j) exists.  In
// step t a decoder adds node a = s + t.  The 2 a + 1 new edges, (i, a) for i <= a and (a, j) for j < a, are the shell
// of the step.  Each edge of the shell has all n = a + 1 nodes as middle nodes:
//
//   s(i, l, j) = q(i, l) . k(l, j) / sqrt(k),  p = softmax over l <= a,  o(i, j) = sum_l p(i, l, j) v1(i, l) * v2(l, j)
//
// The shell has (2 n - 1) n triangles.  All edges of the graph together have n^3 triangles.  The forms are those of
// triangle(), except for the flat form, which cannot be causal.
//
// A slot of the cache holds one hypothesis of a beam search.  Each of b graphs has `beam` slots, so there are H = beam
// b slots.  s_h is the number of sources of slot h.  S is the sum of the numbers of sources of all slots.  S_h is the
// sum of the numbers of sources of the slots before slot h.  The cache has these rows:
//   first   the edges between sources of each of the b graphs, (i, j) in row i s + j; all slots of a graph share them
//   then    for each step t, the shells of all slots: 2 S + H (2 t + 1) rows, which begin H t^2 + 2 t S rows after
//           those of step 0; the shell of slot h begins 2 S_h + h (2 t + 1) rows later, with (i, a) in its row i and
//           (a, j) in its row a + 1 + j
//
// If a hypothesis moves to another slot, its shells are not copied.  owner(h, u) is the slot in which step u computed
// the shell of the hypothesis that is now in slot h.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/ops/triangle.hpp"

namespace triad {

/// The edges of the newest shell that are computed in each slot.  all: every edge.  diagonal: only edge (a, a).  The
/// sum of this edge reads only edges of the newest shell.  first: only edge (s, a), from the first node after the
/// sources.  The sum of this edge reads edges of all shells, but no edge between sources.  With `diagonal` or `first`,
/// the cache may omit the rows that are not read (edge_shells::skipped).
enum class shell_edges { all, diagonal, first };

/// Edge (i, j) of the hypothesis in a slot.
struct shell_edge {
  index_t slot, i, j;
};

/// The rows of one hypothesis in the cache.
struct shell_graph {
  index_t sources, nodes;            // s, n
  index_t block, shells;             // the row of edge (0, 0) between sources; the offset of the shells' rows
  index_t twice_all_sources, slots;  // 2 S, H
  index_t const* owner;              // (t + 1)

  /// The row of edge (i, j).
  TRIAD_HOST_DEVICE constexpr index_t row(index_t i, index_t j) const {
    index_t const last = i > j ? i : j, u = last - sources;
    if (u < 0) return block + i * sources + j;
    return shells + u * (twice_all_sources + slots * u) + owner[u] * (2 * last + 1) + (j == last ? i : last + 1 + j);
  }
};

/// The rows of all hypotheses in the cache.
struct edge_shells {
  graph_batch sources;                    // the graphs of the sources alone; slot h belongs to graph h / beam
  index_t beam = 1, step = 0;             // slots of a graph; t
  tensor<index_t const, dyn, dyn> owner;  // (slots, t + 1); owner(h, t) = h; the slots in a row belong to one graph
  index_t skipped = 0;  // the number of rows at the beginning that the cache leaves out, since no wanted edge reads
                        // them

  TRIAD_HOST_DEVICE constexpr index_t slots() const { return beam * sources.dims.graphs; }
  /// n, the number of nodes of the hypothesis in slot h.
  TRIAD_HOST_DEVICE constexpr index_t nodes(index_t h) const { return sources.size(h / beam) + step + 1; }
  /// The first row of step u, and the number of rows of step u.  Row 0 is the first edge between sources.
  TRIAD_HOST_DEVICE constexpr index_t first_row(index_t u) const {
    return sources.dims.rows + 2 * u * beam * sources.dims.nodes + slots() * u * u;
  }
  TRIAD_HOST_DEVICE constexpr index_t rows(index_t u) const {
    return 2 * beam * sources.dims.nodes + slots() * (2 * u + 1);
  }
  /// The number of rows at the beginning that no wanted edge reads.  `skipped` must not be larger than this number.
  TRIAD_HOST_DEVICE constexpr index_t unread(shell_edges wanted) const {
    if (wanted == shell_edges::all) return 0;
    return first_row(wanted == shell_edges::diagonal ? step : 0);
  }
  /// The offset of slot h's shell among the rows of step u.
  TRIAD_HOST_DEVICE constexpr index_t shell(index_t h, index_t u) const {
    index_t const g = h / beam;
    return 2 * (beam * sources.node_begin(g) + h % beam * sources.size(g)) + h * (2 * u + 1);
  }
  /// The rows of the hypothesis in slot h.
  TRIAD_HOST_DEVICE constexpr shell_graph graph(index_t h) const {
    index_t const g = h / beam, s = sources.size(g);
    return {s,
            s + step + 1,
            sources.edge_begin(g) - skipped,
            sources.dims.rows + 2 * beam * (sources.node_begin(g) - g * s) - skipped,
            2 * beam * sources.dims.nodes,
            slots(),
            owner.data_handle() + h * (step + 1)};
  }
  /// The number of wanted edges.  edge() returns the r-th wanted edge.
  TRIAD_HOST_DEVICE constexpr index_t count(shell_edges wanted) const {
    return wanted == shell_edges::all ? rows(step) : slots();
  }
  TRIAD_HOST_DEVICE constexpr shell_edge edge(shell_edges wanted, index_t r) const {
    if (wanted != shell_edges::all) {
      index_t const a = nodes(r) - 1;
      return {r, wanted == shell_edges::diagonal ? a : a - step, a};
    }
    index_t h = 0;  // the last slot whose shell begins at r or before
    for (index_t end = slots(); end - h > 1;) {
      index_t const middle = h + (end - h) / 2;
      if (shell(middle, step) <= r)
        h = middle;
      else
        end = middle;
    }
    index_t const a = nodes(h) - 1, at = r - shell(h, step);
    if (at <= a) return {h, at, a};
    return {h, a, at - a - 1};
  }
};

/// Computes the attention of the wanted edges.  Overwrites o, which is (rows of the step, d) if all edges are computed,
/// else (slots, d).  Each matrix in `cache` is (rows, d).  The caller must have filled the rows of the newest step.
/// Kernels load whole vectors, so every operand needs `arena_slack` readable bytes after its last row.  Views from an
/// arena have these bytes.
template <backend Ex, class T>
void triangle_step(Ex& ex, arena& scratch, triangle_form form, index_t heads,
                   triangle_projections<T const> const& cache, edge_shells const& at, shell_edges wanted, matrix<T> o) {
  index_t const d = cache.query.extent(1);
  TRIAD_EXPECTS(form != triangle_form::flat, "triangle_step: the flat form, expected another one: it is not causal");
  TRIAD_EXPECTS(cache.bias.empty(),
                "triangle_step: a bias, expected none: it cannot grow with the graphs; leave `bias` "
                "empty");
  expect_heads("triangle_step", d, heads);
  TRIAD_EXPECTS(at.beam > 0, "triangle_step: beam is " + std::to_string(at.beam) + ", expected 1 or more");
  TRIAD_EXPECTS(at.step >= 0, "triangle_step: step is " + std::to_string(at.step) + ", expected 0 or more");
  expect_shape("triangle_step", "owner", at.owner, {at.slots(), at.step + 1});
  TRIAD_EXPECTS(at.skipped >= 0 && at.skipped <= at.unread(wanted),
                "triangle_step: skipped is " + std::to_string(at.skipped) + ", expected 0 to " +
                    std::to_string(at.unread(wanted)) +
                    ", the rows that no wanted edge reads; skip fewer rows, or want fewer edges");
  TRIAD_EXPECTS(cache.query.extent(0) >= at.first_row(at.step + 1) - at.skipped,
                "triangle_step: the cache has " + std::to_string(cache.query.extent(0)) + " rows, expected " +
                    std::to_string(at.first_row(at.step + 1) - at.skipped) + " or more, one for each edge");
  expect_same_shape("triangle_step", "key", cache.key, cache.query);
  expect_same_shape("triangle_step", "left_value", cache.left_value, cache.query);
  if (uses_right_value(form)) expect_same_shape("triangle_step", "right_value", cache.right_value, cache.query);
  expect_shape("triangle_step", "o", o, {at.count(wanted), d});
  with_workspace(ex, scratch, do_triangle_step_workspace(planning(ex), heads, at, o),
                 [&](auto ws) { do_triangle_step(ex, form, heads, cache, at, wanted, o, ws); });
}

}  // namespace triad
