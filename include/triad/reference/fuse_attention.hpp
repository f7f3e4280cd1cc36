// Fuse-attention, one token after another, directly from its definition in ops/fuse_attention.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/fuse_attention.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_fuse_attention(backend&, fuse_attention_options const& options, index_t layers, tensor<T const, dyn, dyn> u,
                       layer_states<T const> states, tensor<T, dyn, dyn> weights, tensor<T, dyn, dyn> mixed,
                       tensor<T, dyn, dyn> kept) {
  index_t const d = states.extent(2);
  for (index_t r = 0; r < states.extent(1); ++r)
    for (index_t h = 0; h < options.heads; ++h) {
      auto const p = [&](index_t j) -> T& { return weights(r, h * layers + j); };
      T maximum = 0, sum = 0;
      for (index_t j = 0; j < layers; ++j) {
        T score = 0;
        for (index_t f = 0; f < d; ++f) score += u(r, h * d + f) * states(j, r, f);
        p(j) = score;
        maximum = j == 0 || score > maximum ? score : maximum;
      }
      for (index_t j = 0; j < layers; ++j) sum += p(j) = std::exp(p(j) - maximum);
      kept(r, h) = T(0);
      for (index_t f = 0; f < d; ++f) mixed(r, h * d + f) = T(0);
      for (index_t j = 0; j < layers; ++j) {
        p(j) /= sum;
        bool const keeps = !options.dropout.active() ||
                           options.dropout.keeps(static_cast<std::uint64_t>((r * options.heads + h) * layers + j));
        T const w = !keeps ? T(0) : options.dropout.active() ? p(j) * T(options.dropout.scale()) : p(j);
        if (!keeps) p(j) = -p(j);
        kept(r, h) += w;
        for (index_t f = 0; f < d; ++f) mixed(r, h * d + f) += w * states(j, r, f);
      }
    }
}

template <class T>
void do_fuse_attention_grad(backend&, fuse_attention_options const& options, index_t layers,
                            tensor<T const, dyn, dyn> u, layer_states<T const> states,
                            tensor<T const, dyn, dyn> weights, tensor<T const, dyn, dyn> d_mixed,
                            tensor<T const, dyn, dyn> d_kept, tensor<T, dyn, dyn> du, layer_states<T> d_states) {
  index_t const d = states.extent(2);
  T const scale = options.dropout.active() ? T(options.dropout.scale()) : T(1);
  for (index_t r = 0; r < states.extent(1); ++r)
    for (index_t h = 0; h < options.heads; ++h) {
      auto const p = [&](index_t j) { return std::abs(weights(r, h * layers + j)); };
      auto const gate = [&](index_t j) { return weights(r, h * layers + j) > T(0) ? scale : T(0); };
      auto const dp = [&](index_t j) {
        T sum = d_kept(r, h);
        for (index_t f = 0; f < d; ++f) sum += d_mixed(r, h * d + f) * states(j, r, f);
        return gate(j) * sum;
      };
      T delta = 0;
      for (index_t j = 0; j < layers; ++j) delta += p(j) * dp(j);
      for (index_t f = 0; f < d; ++f) du(r, h * d + f) = T(0);
      for (index_t j = 0; j < layers; ++j) {
        T const dz = p(j) * (dp(j) - delta), w = p(j) * gate(j);
        for (index_t f = 0; f < d; ++f) {
          du(r, h * d + f) += dz * states(j, r, f);
          d_states(j, r, f) += dz * u(r, h * d + f) + w * d_mixed(r, h * d + f);
        }
      }
    }
}

}  // namespace triad::TRIAD_REFERENCE
