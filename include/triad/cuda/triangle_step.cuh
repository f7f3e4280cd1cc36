// One step of causal triangular attention with one warp for each edge and head.  A warp computes 32 middle nodes at a
// time, and keeps the maximum so far.
// SPDX-License-Identifier: Apache-2.0
//
// For dot products and values, each lane has some columns of the head.  For the softmax and for the row numbers of
// edges, each lane has one middle node.  Shuffles pass weights and row numbers to the other lanes.  So any n and any
// width are possible without scratch memory.
#pragma once

#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/triangle_step.hpp"

namespace triad::cuda {

namespace detail {

/// The parameters, and the values that the host computes from the parameters for the kernel.
template <class T>
struct step_rule {
  index_t heads, width;
  bool own_key, right_value;
  T root;

  step_rule(triangle_form form, index_t h, index_t d)
      : heads(h),
        width(d / h),
        own_key(uses_own_key(form)),
        right_value(uses_right_value(form)),
        root(::cuda::std::sqrt(T(width))) {}
};

template <class T>
struct triangle_step_edges {
  static constexpr char const* name = "triangle_step";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, step_rule<T> t, triangle_projections<T const> x, edge_shells at,
                               shell_edges wanted, matrix<T> o) const {
    index_t const item = b.index() * row_warps + b.row();
    bool const live = item < o.extent(0) * t.heads;  // a warp beyond the last head has no nodes, and writes nothing
    index_t const r = live ? item / t.heads : 0, column = live ? item % t.heads * t.width : 0;
    shell_edge const e = at.edge(wanted, r);
    shell_graph const g = at.graph(e.slot);
    index_t const n = live ? g.nodes : 0, own = g.row(e.i, e.j);
    // A NaN does not become the maximum, but it makes the total NaN.
    T maximum = -::cuda::std::numeric_limits<T>::infinity(), total = 0;
    for (index_t begin = 0; begin < n; begin += warp) {
      int const count = static_cast<int>(n - begin < warp ? n - begin : warp);
      index_t const l = begin + b.lane() < n ? begin + b.lane() : begin;
      index_t const left = g.row(e.i, l), right = g.row(l, e.j);
      T mine = 0, most = maximum;
      for (int k = 0; k < count; ++k) {
        index_t const q = b.shuffle(left, k), key = t.own_key ? own : b.shuffle(right, k);
        T s = 0;
        for (index_t f = column + b.lane(); f < column + t.width; f += warp) s += x.query(q, f) * x.key(key, f);
        s = warp_sum(b, s) / t.root;
        if (b.lane() == k) mine = s;
      }
      if (b.lane() < count && mine > most) most = mine;
      most = warp_maximum(b, most);
      T const before = begin == 0 ? T(0) : ::cuda::std::exp(maximum - most);
      T const p = b.lane() < count ? ::cuda::std::exp(mine - most) : T(0);
      total = total * before + warp_sum(b, p);
      maximum = most;
      for (index_t across = 0; across < t.width; across += warp) {
        bool const inside = across + b.lane() < t.width;
        index_t const f = column + across + b.lane();
        T sum = 0;
        for (int k = 0; k < count; ++k) {
          T const weight = b.shuffle(p, k);
          index_t const from = b.shuffle(left, k), to = b.shuffle(right, k);
          if (inside)
            sum +=
                t.right_value ? weight * x.left_value(from, f) * x.right_value(to, f) : weight * x.left_value(from, f);
        }
        if (inside) o(r, f) = begin == 0 ? sum : o(r, f) * before + sum;  // only this lane reads it
      }
    }
    if (live)
      for (index_t f = column + b.lane(); f < column + t.width; f += warp) o(r, f) /= total;
  }
};

}  // namespace detail

template <class T>
std::size_t do_triangle_step_workspace(backend const&, index_t, edge_shells const&, matrix<T> const&) {
  return 0;
}

template <class T>
void do_triangle_step(backend& ex, triangle_form form, index_t heads, triangle_projections<T const> const& x,
                      edge_shells const& at, shell_edges wanted, matrix<T> o, workspace) {
  launch(ex, detail::triangle_step_edges<T>{}, blocks_for(o.extent(0) * heads, row_warps),
         detail::step_rule<T>(form, heads, o.extent(1)), x, at, wanted, o);
}

}  // namespace triad::cuda
