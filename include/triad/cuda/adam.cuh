// Adam, AdamW and clipping.  The kernels read the learning rate, the step and the norm from device memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/core/finite.hpp"
#include "triad/cuda/elementwise.cuh"
#include "triad/ops/adam.hpp"

namespace triad::cuda {

namespace detail {

template <class T>
struct adam_update {
  static constexpr char const* name = "adam";
  static constexpr int threads = elementwise_threads;
  struct shared {
    T step_size, root, shrink;
  };
  bool aligned;

  TRIAD_DEVICE void operator()(block const& b, adam_options options, vec<double const> rate, std::uint64_t const* step,
                               vec<T> p, vec<T const> g, vec<T> m, vec<T> v) const {
    auto& now = b.shared<shared>();
    T at[elementwise_each] = {}, gradient[elementwise_each] = {}, first[elementwise_each] = {},
      second[elementwise_each] = {};
    by_block(b, aligned, p.extent(0), [&](auto share) {
      share.read(b, vec<T const>(p), at);
      share.read(b, g, gradient);
      share.read(b, vec<T const>(m), first);
      share.read(b, vec<T const>(v), second);
    });
    if (b.thread() == 0) {  // one thread for the block; in double, because beta1 and beta2 are close to 1
      auto const t = static_cast<double>(*step + 1);
      now.step_size = T(rate(0) / (1 - ::cuda::std::pow(options.beta1, t)));
      now.root = T(::cuda::std::sqrt(1 - ::cuda::std::pow(options.beta2, t)));
      now.shrink = T(options.decoupled ? 1 - rate(0) * options.weight_decay : 1.0);
    }
    b.sync();
    T const b1 = T(options.beta1), b2 = T(options.beta2), one_b1 = T(1 - options.beta1), one_b2 = T(1 - options.beta2),
            epsilon = T(options.epsilon);
    T const l2 = T(options.decoupled ? 0.0 : options.weight_decay);
    by_block(b, aligned, p.extent(0), [&](auto share) {
      share.each(b, p.extent(0), [&](int k) {
        T const d = gradient[k] + l2 * at[k], m1 = b1 * first[k] + one_b1 * d, v1 = b2 * second[k] + one_b2 * d * d;
        first[k] = m1;
        second[k] = v1;
        at[k] = now.shrink * at[k] - now.step_size * m1 / (::cuda::std::sqrt(v1) / now.root + epsilon);
      });
      share.write(b, first, m);
      share.write(b, second, v);
      share.write(b, at, p);
    });
  }
};

template <class T>
struct clip_values {
  static constexpr char const* name = "clip";
  static constexpr int threads = elementwise_threads;
  bool aligned;

  TRIAD_DEVICE void operator()(block const& b, T max_norm, vec<T const> norm, vec<T> g) const {
    T const factor = max_norm / (norm(0) + T(1e-6));
    if (!(factor < T(1) || is_nan(factor))) return;
    by_block(b, aligned, g.extent(0), [&](auto share) {
      T e[elementwise_each] = {};
      share.read(b, vec<T const>(g), e);
      share.each(b, g.extent(0), [&](int k) { e[k] *= factor; });
      share.write(b, e, g);
    });
  }
};

}  // namespace detail

template <class T>
void do_adam(backend& ex, adam_options const& options, vec<double const> rate, std::uint64_t const* step, vec<T> p,
             vec<T const> g, vec<T> m, vec<T> v) {
  bool const aligned = detail::begin_on_16_bytes(p, g, m, v);
  launch(ex, detail::adam_update<T>{aligned}, blocks_for(p.extent(0), detail::elementwise_block), options, rate, step,
         p, g, m, v);
}

template <class T>
void do_clip(backend& ex, T max_norm, vec<T const> norm, vec<T> g) {
  launch(ex, detail::clip_values<T>{detail::begin_on_16_bytes(g)}, blocks_for(g.extent(0), detail::elementwise_block),
         max_norm, norm, g);
}

}  // namespace triad::cuda
