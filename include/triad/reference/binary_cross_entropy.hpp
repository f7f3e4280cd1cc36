// Cross entropy of several labels at once, directly from its definition in ops/binary_cross_entropy.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/binary_cross_entropy.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

namespace detail {
/// The loss of one element and its derivative.
template <class T>
struct label_loss {
  T value, slope;

  label_loss(probability_form form, T x, bool yes) {
    if (form == probability_form::logits) {
      T const miss = yes ? -x : x, e = std::exp(-std::abs(miss));  // the loss is log(1 + exp(miss))
      T const p = (miss < T(0) ? e : T(1)) / (T(1) + e);           // sigmoid(miss)
      value = (miss > T(0) ? miss : T(0)) + std::log1p(e);
      slope = yes ? -p : p;
    } else {
      T const s = x - T(least_log_miss);
      // log(1 - exp(s)), by the function that is exact for this s.
      value = yes ? -(s < T(-1) ? std::log1p(-std::exp(s)) : std::log(-std::expm1(s))) : -s;
      slope = yes ? T(1) / std::expm1(-s) : T(-1);
    }
  }
};
}  // namespace detail

template <class T>
std::size_t do_binary_cross_entropy_workspace(backend&, matrix<T const>) {
  return 0;
}

template <class T>
void do_binary_cross_entropy(backend&, probability_form form, matrix<T const> x, matrix<std::uint8_t const> target,
                             vec<T const> scale, vec<T> loss, matrix<T> dx, workspace) {
  T total = 0;
  for (index_t r = 0; r < x.extent(0); ++r)
    for (index_t c = 0; c < x.extent(1); ++c) {
      dx(r, c) = T(0);
      if (target(r, c) > 1) continue;
      detail::label_loss<T> const one(form, x(r, c), target(r, c) == 1);
      total += one.value;
      dx(r, c) = scale(0) * one.slope;
    }
  loss(0) = scale(0) * total;
}

}  // namespace triad::TRIAD_REFERENCE
