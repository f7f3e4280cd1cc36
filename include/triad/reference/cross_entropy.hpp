// Cross entropy and argmax, directly from their definition in ops/cross_entropy.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/core/finite.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_cross_entropy(backend&, matrix<T const> logits, vec<index_t const> target, vec<T> loss, matrix<T> dlogits,
                      label_smoothing const& t) {
  index_t const rows = logits.extent(0), v = logits.extent(1);
  index_t count = 0;
  for (index_t r = 0; r < rows; ++r) count += target(r) >= 0 ? 1 : 0;
  T const hit = T(t.hit()), miss = T(t.miss(v));
  T total = 0;
  for (index_t r = 0; r < rows; ++r) {
    if (target(r) < 0) {
      for (index_t c = 0; c < v; ++c) dlogits(r, c) = T(0);
      continue;
    }
    TRIAD_EXPECTS(target(r) < v, target_outside("cross_entropy", r, target(r), v));
    T maximum = logits(r, 0), sum = 0;
    for (index_t c = 1; c < v; ++c) maximum = logits(r, c) > maximum ? logits(r, c) : maximum;
    for (index_t c = 0; c < v; ++c) sum += std::exp(logits(r, c) - maximum);
    T const log_sum = std::log(sum);
    auto const lost = [&](index_t c) { return log_sum + (maximum - logits(r, c)); };  // -log p(c)
    total += hit * lost(target(r));
    for (index_t c = 0; miss > T(0) && c < v; ++c) total += c != target(r) ? miss * lost(c) : T(0);
    for (index_t c = 0; c < v; ++c)
      dlogits(r, c) = (std::exp(logits(r, c) - maximum) / sum - (c == target(r) ? hit : miss)) / T(count);
  }
  loss(0) = count > 0 ? total / T(count) : T(0);
}

template <class T>
void do_argmax_rows(backend&, matrix<T const> x, vec<index_t> best) {
  for (index_t r = 0; r < x.extent(0); ++r) {
    index_t at = 0;
    bool none = false;
    for (index_t c = 0; c < x.extent(1); ++c) {
      if (x(r, c) > x(r, at)) at = c;
      none = none || is_nan(x(r, c));
    }
    best(r) = none ? -1 : at;
  }
}

}  // namespace triad::TRIAD_REFERENCE
