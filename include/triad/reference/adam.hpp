// Adam, AdamW and clipping, directly from their definition in ops/adam.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/core/finite.hpp"
#include "triad/ops/adam.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_adam(backend&, adam_options const& options, vec<double const> rate, std::uint64_t const* step, vec<T> p,
             vec<T const> g, vec<T> m, vec<T> v) {
  auto const t = static_cast<double>(*step + 1);
  T const b1 = T(options.beta1), b2 = T(options.beta2), step_size = T(rate(0) / (1 - std::pow(options.beta1, t)));
  T const root = T(std::sqrt(1 - std::pow(options.beta2, t))), epsilon = T(options.epsilon);
  T const shrink = T(options.decoupled ? 1 - rate(0) * options.weight_decay : 1.0),
          l2 = T(options.decoupled ? 0.0 : options.weight_decay);
  T const one_b1 = T(1 - options.beta1), one_b2 = T(1 - options.beta2);
  for (index_t i = 0; i < p.extent(0); ++i) {
    T const gradient = g(i) + l2 * p(i);
    m(i) = b1 * m(i) + one_b1 * gradient;
    v(i) = b2 * v(i) + one_b2 * gradient * gradient;
    p(i) = shrink * p(i) - step_size * m(i) / (std::sqrt(v(i)) / root + epsilon);
  }
}

template <class T>
void do_clip(backend&, T max_norm, vec<T const> norm, vec<T> g) {
  T const factor = max_norm / (norm(0) + T(1e-6));
  if (factor < T(1) || is_nan(factor))
    for (index_t i = 0; i < g.extent(0); ++i) g(i) *= factor;
}

}  // namespace triad::TRIAD_REFERENCE
