// Adam, which updates chunks of the parameters in parallel.  In float, a chunk is updated in vectors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include "triad/cpu/elementwise.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/reference/adam.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// Does the same arithmetic as the reference, in the same order.  A mask limits the last vector to the elements that
/// are left.  So the result of an element has the same bits at any position in the array.  A scalar loop for the last
/// elements would not ensure this, because a compiler may fuse other products and sums in a scalar loop than in a loop
/// over vectors.
inline void adam_by_vectors(adam_options const& options, double rate, std::uint64_t step, float* p, float const* g,
                            float* m, float* v, index_t count) {
  auto const of = [](double x) { return simd::broadcast(static_cast<float>(x)); };
  auto const t = static_cast<double>(step + 1);
  auto const b1 = of(options.beta1), b2 = of(options.beta2), one_b1 = of(1 - options.beta1),
             one_b2 = of(1 - options.beta2), step_size = of(rate / (1 - std::pow(options.beta1, t)));
  auto const root = of(std::sqrt(1 - std::pow(options.beta2, t))), epsilon = of(options.epsilon);
  auto const shrink = of(options.decoupled ? 1 - rate * options.weight_decay : 1.0),
             l2 = of(options.decoupled ? 0.0 : options.weight_decay);
  simd::each_vector(count, [&](index_t i, auto part) __attribute__((always_inline)) {
    auto const before = part.load(p + i), gradient = part.load(g + i) + l2 * before;
    auto const mean = b1 * part.load(m + i) + one_b1 * gradient,
               square = b2 * part.load(v + i) + one_b2 * gradient * gradient;
    part.store(m + i, mean);
    part.store(v + i, square);
    // Without settled(), a compiler may fuse this product with the subtraction in one loop and not in another.
    part.store(p + i, simd::settled(shrink * before) - step_size * mean / (simd::sqrt(square) / root + epsilon));
  });
}

}  // namespace detail

template <class T>
void do_adam(backend& ex, adam_options const& options, vec<double const> rate, std::uint64_t const* step, vec<T> p,
             vec<T const> g, vec<T> m, vec<T> v) {
  parallel_rows(ex, p.extent(0), elementwise_chunk, [&](index_t first, index_t count, int) {
    if constexpr (std::is_same_v<T, float>) {
      detail::adam_by_vectors(options, rate(0), *step, p.data_handle() + first, g.data_handle() + first,
                              m.data_handle() + first, v.data_handle() + first, count);
    } else {
      auto const part = [&](auto w) { return decltype(w)(w.data_handle() + first, count); };
      reference::do_adam(static_cast<reference::backend&>(ex), options, rate, step, part(p), part(g), part(m), part(v));
    }
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
