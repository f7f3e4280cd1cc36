// Layer normalisation with one warp per row.  The gradients of gain and bias are first summed over fixed chunks of
// rows.  If there are few chunks, the block that ends last adds their sums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cuda/std/cmath>

#include "triad/cuda/device/rows.cuh"
#include "triad/cuda/dropout.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/ops/layer_norm.hpp"

namespace triad::cuda {

namespace detail {

/// Normalises the row of a warp.  v(k, column) returns a value of the row, as in lane_values.
template <int Held, class T, class Values>
TRIAD_DEVICE void normalise_row(block const& b, warp_row const& own, Values const& v, vec<T const> gain,
                                vec<T const> bias, T epsilon, matrix<T> y, vec<T> mean, vec<T> rstd) {
  T m = 0, squares = 0;
  each_column<Held>(b.lane(), own.d, [&](int k, index_t c) { m += v(k, c); });
  m = warp_sum(b, m) / T(own.d);
  each_column<Held>(b.lane(), own.d, [&](int k, index_t c) { squares += (v(k, c) - m) * (v(k, c) - m); });
  T const s = T(1) / ::cuda::std::sqrt(warp_sum(b, squares) / T(own.d) + epsilon);
  each_column<Held>(b.lane(), own.d, [&](int k, index_t c) { y(own.r, c) = gain(c) * ((v(k, c) - m) * s) + bias(c); });
  if (own.live && b.lane() == 0) {
    mean(own.r) = m;
    rstd(own.r) = s;
  }
}

template <class T, int Held>
struct layer_norm_rows {
  static constexpr char const* name = "layer_norm";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, vec<T const> gain, vec<T const> bias, T epsilon,
                               matrix<T> y, vec<T> mean, vec<T> rstd) const {
    warp_row const own(b, x);
    normalise_row<Held>(b, own, lane_values<T, Held>(b, x, own.r, own.d), gain, bias, epsilon, y, mean, rstd);
  }
};

/// Computes dx for a chunk of rows, and `dropped` if Drops is true.  The warps of a block take the rows in turn.  If
/// Held is not 0, also stores the sums of dgain and then of dbias over the chunk in `partial`.  If `count` is not null,
/// the last block does the work of add_partials, with the same bits for few chunks.  (Other blocks could sum all rows,
/// as in column_sums_of_few, and no block would have to be the last.  But they would read dy while dx is written, which
/// may be the same memory.)
template <class T, int Held, bool Drops>
struct layer_norm_grad_rows {
  static constexpr char const* name = "layer_norm_grad";
  static constexpr int threads = row_threads, slots = Held > 0 ? Held : 1;
  static constexpr int resident = (sizeof(T) == 4 ? 3 : 2) - (Drops ? 1 : 0);  // then no kernel spills registers
  static_assert(Held <= 32, "triad: a lane has one bit of lane_kept() for each of its columns");
  struct shared {
    T gain[row_warps][slots * warp], bias[row_warps][slots * warp];
    bool last;
  };

  TRIAD_DEVICE void operator()(block const& b, matrix<T const> x, vec<T const> gain, vec<T const> mean,
                               vec<T const> rstd, matrix<T const> dy, matrix<T const> add, matrix<T> dx,
                               drop_rule<T> drop, matrix<T> dropped, vec<T> dgain, vec<T> dbias, T* partial,
                               index_t chunk, unsigned* count) const {
    index_t const rows = x.extent(0), d = x.extent(1), first = b.index() * chunk,
                  end = first + chunk < rows ? first + chunk : rows;
    T to_gain[slots] = {}, to_bias[slots] = {};
    for (index_t r = first + b.row(); r < end; r += row_warps) {  // the same r in all lanes
      unsigned const kept = Drops && Held > 0 ? lane_kept(b, drop, r, d) : 0;
      lane_values<T, Held> const v(b, x, r, d), gradient(b, dy, r, d);
      T const m = mean(r), s = rstd(r);
      T sum_g = 0, sum_gz = 0;
      each_column<Held>(b.lane(), d, [&](int k, index_t c) {
        T const z = (v(k, c) - m) * s, g = gain(c) * gradient(k, c);
        sum_g += g;
        sum_gz += g * z;
        if constexpr (Held > 0) {
          to_gain[k] += gradient(k, c) * z;
          to_bias[k] += gradient(k, c);
        }
      });
      T const mean_g = warp_sum(b, sum_g) / T(d), mean_gz = warp_sum(b, sum_gz) / T(d);
      each_column<Held>(b.lane(), d, [&](int k, index_t c) {
        T const extra = add.extent(0) != 0 ? add(r, c) : T(0), z = (v(k, c) - m) * s,
                to = s * (gain(c) * gradient(k, c) - mean_g - z * mean_gz) + extra;
        dx(r, c) = to;
        if constexpr (Drops)
          dropped(r, c) = drop(to, Held > 0 ? (kept >> k & 1) != 0 : drop.mask.keeps(dropout_element(r, c, d)));
      });
    }
    if constexpr (Held > 0) {
      auto& memory = b.shared<shared>();
      TRIAD_UNROLL
      for (int k = 0; k < Held; ++k) {
        memory.gain[b.row()][k * warp + b.lane()] = to_gain[k];
        memory.bias[b.row()][k * warp + b.lane()] = to_bias[k];
      }
      b.sync();
      for (int c = b.thread(); c < d; c += threads) {
        T sum_gain = 0, sum_bias = 0;
        for (int w = 0; w < row_warps; ++w) {
          sum_gain += memory.gain[w][c];
          sum_bias += memory.bias[w][c];
        }
        partial[b.index() * 2 * d + c] = sum_gain;
        partial[b.index() * 2 * d + d + c] = sum_bias;
      }
      if (count == nullptr || !arrives_last(b, count, memory.last)) return;
      for (int c = b.thread(); c < 2 * d; c += threads) {
        T total = 0;
        for (index_t k = 0; k < b.blocks(); ++k) total += partial[k * 2 * d + c];
        (c < d ? dgain(c) : dbias(c - d)) += total;
      }
    }
  }
};

template <class T>
struct gain_term {
  matrix<T const> x, dy;
  vec<T const> mean, rstd;
  TRIAD_DEVICE T operator()(index_t r, index_t c) const { return dy(r, c) * ((x(r, c) - mean(r)) * rstd(r)); }
};

/// Computes the gradients, and also the gradient before dropout if Drops is true.
template <bool Drops, class T>
void normalise_rows_grad(backend& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                         matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias,
                         workspace ws, dropout_mask mask, matrix<T> dropped) {
  index_t const rows = x.extent(0), d = x.extent(1), chunk = column_chunk(rows), chunks = blocks_for(rows, chunk),
                tiles = blocks_for(d, warp);
  if (rows == 0 || d == 0) return;
  auto* const partial = reinterpret_cast<T*>(ws.data);
  auto const compute = [&](auto const& kernel, unsigned* count) {
    launch(ex, kernel, chunks, x, gain, mean, rstd, dy, add, dx, drop_rule<T>(mask), dropped, dgain, dbias, partial,
           chunk, count);
  };
  if (d <= held_columns * warp) {
    bool const few = chunks <= few_chunks;
    compute(layer_norm_grad_rows<T, held_columns, Drops>{}, few ? ex.block_count() : nullptr);
    if (few) return;
  } else {  // the sums over rows come first, since dx may be the same memory as dy
    launch(ex, column_partials<T, gain_term<T>>{{x, dy, mean, rstd}}, chunks * tiles, rows, d, partial, chunk, 2 * d);
    launch(ex, column_partials<T, matrix_term<T>>{{dy}}, chunks * tiles, rows, d, partial + d, chunk, 2 * d);
    compute(layer_norm_grad_rows<T, 0, Drops>{}, nullptr);
  }
  launch(ex, add_partials<T>{}, blocks_for(2 * d, warp), static_cast<T const*>(partial), chunks, dgain, dbias);
}

}  // namespace detail

template <class T>
void do_layer_norm(backend& ex, matrix<T const> x, vec<T const> gain, vec<T const> bias, T epsilon, matrix<T> y,
                   vec<T> mean, vec<T> rstd) {
  launch_rows<detail::layer_norm_rows, T>(ex, x.extent(0), x.extent(1), x, gain, bias, epsilon, y, mean, rstd);
}

template <class T>
std::size_t do_layer_norm_grad_workspace(backend&, matrix<T const> x) {
  return static_cast<std::size_t>(most_column_chunks(x.extent(0)) * 2 * x.extent(1)) * sizeof(T);
}

template <class T>
void do_layer_norm_grad(backend& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                        matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias,
                        workspace ws) {
  detail::normalise_rows_grad<false>(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws, {}, no_matrix<T>());
}
/// A derived backend may have a norm or dropout of its own, so it computes one after the other.
template <std::derived_from<backend> Ex, class T>
void do_layer_norm_grad(Ex& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                        matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias, workspace ws,
                        dropout_mask mask, matrix<T> dropped) {
  if constexpr (std::same_as<Ex, backend>)
    detail::normalise_rows_grad<true>(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws, mask, dropped);
  else
    layer_norm_grad_by_parts(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws, mask, dropped);
}

}  // namespace triad::cuda
