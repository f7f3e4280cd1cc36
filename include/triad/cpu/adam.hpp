// Adam in parallel chunks, in float by vectors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include "triad/cpu/elementwise.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/reference/adam.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// The reference's arithmetic in its order for the elements that fill whole vectors; returns how many these are.
inline index_t adam_by_vectors(adam_options const& s, double rate, std::uint64_t step, vec<float> p, vec<float const> g,
                               vec<float> m, vec<float> v) {
  auto const of = [](double x) { return simd::broadcast(static_cast<float>(x)); };
  auto const t = static_cast<double>(step + 1);
  auto const b1 = of(s.beta1), b2 = of(s.beta2), one_b1 = of(1 - s.beta1), one_b2 = of(1 - s.beta2),
             step_size = of(rate / (1 - std::pow(s.beta1, t)));
  auto const root = of(std::sqrt(1 - std::pow(s.beta2, t))), epsilon = of(s.epsilon);
  auto const shrink = of(s.decoupled ? 1 - rate * s.weight_decay : 1.0), l2 = of(s.decoupled ? 0.0 : s.weight_decay);
  index_t const whole = p.extent(0) / simd::lanes * simd::lanes;
  for (index_t i = 0; i < whole; i += simd::lanes) {
    auto const before = simd::load(&p(i)), gradient = simd::load(&g(i)) + l2 * before;
    auto const mean = b1 * simd::load(&m(i)) + one_b1 * gradient,
               square = b2 * simd::load(&v(i)) + one_b2 * gradient * gradient;
    simd::store(&m(i), mean);
    simd::store(&v(i), square);
    simd::store(&p(i), shrink * before - step_size * mean / (simd::sqrt(square) / root + epsilon));
  }
  return whole;
}

}  // namespace detail

template <class T>
void do_adam(backend& ex, adam_options const& s, vec<double const> rate, std::uint64_t const* step, vec<T> p,
             vec<T const> g, vec<T> m, vec<T> v) {
  parallel_rows(ex, p.extent(0), elementwise_chunk, [&](index_t first, index_t count, int) {
    auto const part = [](auto w, index_t from, index_t size) { return decltype(w)(w.data_handle() + from, size); };
    index_t done = 0;
    if constexpr (std::is_same_v<T, float>)
      done = detail::adam_by_vectors(s, rate(0), *step, part(p, first, count), part(g, first, count),
                                     part(m, first, count), part(v, first, count));
    if (done == count) return;
    first += done, count -= done;
    reference::do_adam(static_cast<reference::backend&>(ex), s, rate, step, part(p, first, count),
                       part(g, first, count), part(m, first, count), part(v, first, count));
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
