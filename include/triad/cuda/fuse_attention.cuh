// Fuse-attention with one warp per token and lanes along the width.  A warp computes its heads and layers one after the
// other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/fuse_attention.hpp"

namespace triad::cuda {

namespace detail {

/// Returns the sum of f(column) over the width.  All lanes get the same sum.
template <class T, class F>
TRIAD_DEVICE T sum_of_columns(block const& b, index_t d, F&& f) {
  T sum = 0;
  each_column<0>(b.lane(), d, [&](int, index_t c) { sum += f(c); });
  return warp_sum(b, sum);
}

template <class T>
struct fuse_attention_rows {
  static constexpr char const* name = "fuse_attention";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, fuse_attention_options options, index_t layers,
                               tensor<T const, dyn, dyn> u, layer_states<T const> states, tensor<T, dyn, dyn> weights,
                               tensor<T, dyn, dyn> mixed, tensor<T, dyn, dyn> kept) const {
    index_t const item = b.index() * row_warps + b.row();
    bool const live = item < states.extent(1);
    index_t const r = live ? item : 0, d = live ? states.extent(2) : 0, width = states.extent(2);
    bool const drops = options.dropout.active();
    T const scale = drops ? static_cast<T>(options.dropout.scale()) : T(1);
    for (index_t h = 0; h < options.heads; ++h) {
      auto const score = [&](index_t j) {
        return sum_of_columns<T>(b, d, [&](index_t c) { return u(r, h * width + c) * states(j, r, c); });
      };
      T maximum = 0, sum = 0;
      for (index_t j = 0; j < layers; ++j) {
        T const s = score(j);
        if (live && b.lane() == 0) weights(r, h * layers + j) = s;
        maximum = j == 0 || s > maximum ? s : maximum;
      }
      b.sync_warp();
      for (index_t j = 0; j < layers; ++j) sum += live ? ::cuda::std::exp(weights(r, h * layers + j) - maximum) : T(1);
      auto const probability = [&](index_t j) {
        return live ? ::cuda::std::exp(weights(r, h * layers + j) - maximum) / sum : T(0);
      };
      auto const keeps = [&](index_t j) {
        return !drops || options.dropout.keeps(static_cast<std::uint64_t>((r * options.heads + h) * layers + j));
      };
      b.sync_warp();  // all lanes have read the scores that lane 0 overwrites
      if (live && b.lane() == 0) {
        T total = 0;
        for (index_t j = 0; j < layers; ++j) {
          T const p = probability(j);
          bool const keep = keeps(j);
          total += keep ? p * scale : T(0);
          weights(r, h * layers + j) = keep ? p : -p;
        }
        kept(r, h) = total;
      }
      b.sync_warp();
      each_column<0>(b.lane(), d, [&](int, index_t c) {
        T total = 0;
        for (index_t j = 0; j < layers; ++j)
          if (T const p = weights(r, h * layers + j); !(p <= T(0))) total += p * scale * states(j, r, c);
        mixed(r, h * width + c) = total;
      });
    }
  }
};

template <class T>
struct fuse_attention_grad_rows {
  static constexpr char const* name = "fuse_attention_grad";
  static constexpr int threads = row_threads;

  TRIAD_DEVICE void operator()(block const& b, fuse_attention_options options, index_t layers,
                               tensor<T const, dyn, dyn> u, layer_states<T const> states,
                               tensor<T const, dyn, dyn> weights, tensor<T const, dyn, dyn> d_mixed,
                               tensor<T const, dyn, dyn> d_kept, tensor<T, dyn, dyn> du,
                               layer_states<T> d_states) const {
    index_t const item = b.index() * row_warps + b.row();
    bool const live = item < states.extent(1);
    index_t const r = live ? item : 0, d = live ? states.extent(2) : 0, width = states.extent(2);
    T const scale = options.dropout.active() ? static_cast<T>(options.dropout.scale()) : T(1);
    for (index_t h = 0; h < options.heads; ++h) {
      auto const signed_p = [&](index_t j) { return weights(r, h * layers + j); };
      auto const p = [&](index_t j) { return ::cuda::std::abs(signed_p(j)); };
      auto const gate = [&](index_t j) { return signed_p(j) > T(0) ? scale : T(0); };
      // dp is computed twice and not stored, because the number of layers is small but has no bound.
      auto const dp = [&](index_t j) {
        T const product =
            sum_of_columns<T>(b, d, [&](index_t c) { return d_mixed(r, h * width + c) * states(j, r, c); });
        return live ? gate(j) * (product + d_kept(r, h)) : T(0);
      };
      T delta = 0;
      for (index_t j = 0; j < layers; ++j) {
        T const d_p = dp(j);
        delta += live ? p(j) * d_p : T(0);
      }
      for (index_t j = 0; j < layers; ++j) {
        T const d_p = dp(j), dz = live ? p(j) * (d_p - delta) : T(0), w = live ? p(j) * gate(j) : T(0);
        each_column<0>(b.lane(), d, [&](int, index_t c) {
          index_t const at = h * width + c;
          du(r, at) = (j == 0 ? T(0) : du(r, at)) + dz * states(j, r, c);
          d_states(j, r, c) += dz * u(r, at) + w * d_mixed(r, at);
        });
      }
    }
  }
};

}  // namespace detail

template <class T>
void do_fuse_attention(backend& ex, fuse_attention_options const& options, index_t layers, tensor<T const, dyn, dyn> u,
                       layer_states<T const> states, tensor<T, dyn, dyn> weights, tensor<T, dyn, dyn> mixed,
                       tensor<T, dyn, dyn> kept) {
  launch(ex, detail::fuse_attention_rows<T>{}, blocks_for(states.extent(1), row_warps), options, layers, u, states,
         weights, mixed, kept);
}

template <class T>
void do_fuse_attention_grad(backend& ex, fuse_attention_options const& options, index_t layers,
                            tensor<T const, dyn, dyn> u, layer_states<T const> states,
                            tensor<T const, dyn, dyn> weights, tensor<T const, dyn, dyn> d_mixed,
                            tensor<T const, dyn, dyn> d_kept, tensor<T, dyn, dyn> du, layer_states<T> d_states) {
  launch(ex, detail::fuse_attention_grad_rows<T>{}, blocks_for(states.extent(1), row_warps), options, layers, u, states,
         weights, d_mixed, d_kept, du, d_states);
}

}  // namespace triad::cuda
