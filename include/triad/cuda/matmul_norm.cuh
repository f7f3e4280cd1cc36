// Matrix products with a norm.  After cuBLAS, one kernel computes the rest of the epilogue and the norm, if there is a
// rest and a row fits into the registers of a warp.  Otherwise the norm is a kernel of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

#include "triad/cuda/layer_norm.cuh"
#include "triad/cuda/matmul.cuh"
#include "triad/ops/matmul_norm.hpp"

namespace triad::cuda {

namespace detail {

/// Applies an epilogue to c, and then the norm, with one warp per row.
template <class T>
struct finish_and_normalise {
  static constexpr char const* name = "epilogue and norm of matmul";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, epilogue<T> e, drop_rule<T> drop, matrix<T> c,
                               following_norm<T> n) const {
    warp_row const own(b, c);
    unsigned const kept = drop.active ? lane_kept(b, drop, own.r, own.d) : 0;
    T v[held_columns] = {};
    each_column<held_columns>(b.lane(), own.d, [&](int k, index_t j) {
      v[k] = finish(e, drop, own.r, j, (kept >> k & 1) != 0, c(own.r, j));
      c(own.r, j) = v[k];
    });
    auto const value = [&](int k, index_t) { return v[k]; };
    normalise_row<held_columns>(b, own, value, n.gain, n.bias, n.epsilon, n.y, n.mean, n.rstd);
  }
};

}  // namespace detail

/// A derived backend may have products or norms of its own, so it computes one after the other.
template <std::derived_from<backend> Ex, class T>
void do_matmul_norm(Ex& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, epilogue<T> const& e,
                    following_norm<T> const& n) {
  if constexpr (!std::same_as<Ex, backend>) {
    matmul_norm_by_parts(ex, a, b, c, e, n);
  } else {
    auto const rest = detail::begin_product(ex, a, b, c, false, e);
    if (!rest.empty() && c.extent(1) <= held_columns * warp)
      return launch(ex, detail::finish_and_normalise<T>{}, blocks_for(c.extent(0), row_warps), rest,
                    drop_rule<T>(rest.dropout), c, n);
    detail::finish_product(ex, rest, c);
    do_layer_norm(ex, matrix<T const>(c), n.gain, n.bias, n.epsilon, n.y, n.mean, n.rstd);
  }
}

}  // namespace triad::cuda
