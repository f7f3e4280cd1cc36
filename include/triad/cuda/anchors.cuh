// Anchors of slots.  A block computes one sentence.  In softmaxes, a warp computes a slot, with lanes along the tokens.
// In sums over members or slots, a thread computes an element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/anchors.hpp"

namespace triad::cuda {

namespace detail {

inline constexpr int anchor_warps = 4, anchor_threads = anchor_warps * warp;

/// Calls f(row, column) for the elements of a matrix that belong to a thread.
template <class F>
TRIAD_DEVICE void each_element_of(block const& b, index_t rows, index_t columns, F&& f) {
  for (index_t p = b.thread(); p < rows * columns; p += b.threads()) f(p / columns, p % columns);
}

/// The scores of a slot, as softmax_total reads them.  Score n is that of a slot that is absent.
template <class T>
struct anchor_row {
  static constexpr int held = 0;
  vec<T const> const& score;
  vec<T const> const& none;
  index_t first, slot, n;

  TRIAD_DEVICE T operator()(int, index_t c) const { return c < n ? score(first + c) : none(slot); }
};

template <class T>
struct anchors_sentence {
  static constexpr char const* name = "anchors";
  static constexpr int threads = anchor_threads;

  TRIAD_DEVICE void operator()(block const& b, anchor_grids g, vec<T const> score, vec<T const> none,
                               vec<T const> heads, vec<T> anchor, vec<T> absent, vec<T> mix) const {
    triad::detail::anchored_sentence const at(g, b.index());
    triad::detail::column_pairs const pair(g.nodes, b.index());
    index_t const n = at.n, e = at.members;
    for (index_t k = b.row(); k < at.slots; k += anchor_warps) {
      anchor_row<T> const row{score, none, at.cell(k, 0), at.none + k, n};
      softmax_total<T> const total(b, row, n + 1);
      for (index_t c = b.lane(); c <= n; c += warp) {
        T const p = total.probability(row(0, c));
        if (c == n)
          absent(at.none + k) = p;
        else
          anchor(at.cell(k, c)) = p;
      }
    }
    b.sync();
    each_element_of(b, e + at.slots, n,
                    [&](index_t a, index_t c) { mix(at.weight(a, c)) = a < e ? T(0) : anchor(at.cell(a - e, c)); });
    b.sync();
    if (heads.extent(0) == 0) {
      for (index_t i = b.thread(); i < e; i += threads) mix(at.weight(i, at.token(i))) = T(1);
      return;
    }
    each_element_of(b, e + at.slots, e, [&](index_t a, index_t j) {
      T sum = 0;
      if (a < e) sum = heads(pair(a, j));
      for (index_t i = 0; a >= e && i < e; ++i) sum += anchor(at.cell(a - e, at.token(i))) * heads(pair(i, j));
      mix(at.weight(a, at.token(j))) = sum;
    });
  }
};

template <class T>
struct anchors_grad_sentence {
  static constexpr char const* name = "anchors_grad";
  static constexpr int threads = anchor_threads;

  TRIAD_DEVICE void operator()(block const& b, anchor_grids g, vec<T const> anchor, vec<T const> absent,
                               vec<T const> heads, vec<T const> dmix, vec<T> dscore, vec<T> dnone,
                               vec<T> d_heads) const {
    triad::detail::anchored_sentence const at(g, b.index());
    triad::detail::column_pairs const pair(g.nodes, b.index());
    index_t const n = at.n, e = at.members;
    bool const lists = heads.extent(0) != 0;
    each_element_of(b, at.slots, n, [&](index_t k, index_t c) { dscore(at.cell(k, c)) = dmix(at.weight(e + k, c)); });
    b.sync();
    if (lists) {
      each_element_of(b, at.slots, e, [&](index_t k, index_t i) {
        T sum = 0;
        for (index_t j = 0; j < e; ++j) sum += heads(pair(i, j)) * dmix(at.weight(e + k, at.token(j)));
        dscore(at.cell(k, at.token(i))) = sum;
      });
      each_element_of(b, pair.m, pair.m, [&](index_t i, index_t j) {
        T sum = 0;
        if (i < e && j < e) {
          sum = dmix(at.weight(i, at.token(j)));
          for (index_t k = 0; k < at.slots; ++k)
            sum += anchor(at.cell(k, at.token(i))) * dmix(at.weight(e + k, at.token(j)));
        }
        d_heads(pair(i, j)) = sum;
      });
    }
    b.sync();
    for (index_t k = b.row(); k < at.slots; k += anchor_warps) {
      T dot = 0;
      for (index_t c = b.lane(); c < n; c += warp) dot += anchor(at.cell(k, c)) * dscore(at.cell(k, c));
      dot = warp_sum(b, dot);
      for (index_t c = b.lane(); c < n; c += warp)
        dscore(at.cell(k, c)) = anchor(at.cell(k, c)) * (dscore(at.cell(k, c)) - dot);
      if (b.lane() == 0) dnone(at.none + k) = -absent(at.none + k) * dot;
    }
  }
};

}  // namespace detail

template <class T>
void do_anchors(backend& ex, anchor_grids const& g, vec<T const> score, vec<T const> none, vec<T const> heads,
                vec<T> anchor, vec<T> absent, vec<T> mix) {
  launch(ex, detail::anchors_sentence<T>{}, g.nodes.dims.graphs, g, score, none, heads, anchor, absent, mix);
}

template <class T>
void do_anchors_grad(backend& ex, anchor_grids const& g, vec<T const> anchor, vec<T const> absent, vec<T const> heads,
                     vec<T const> dmix, vec<T> dscore, vec<T> dnone, vec<T> d_heads) {
  launch(ex, detail::anchors_grad_sentence<T>{}, g.nodes.dims.graphs, g, anchor, absent, heads, dmix, dscore, dnone,
         d_heads);
}

}  // namespace triad::cuda
