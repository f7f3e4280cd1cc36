// Layer normalisation, directly from its definition in ops/layer_norm.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "triad/ops/layer_norm.hpp"
#include "triad/reference/backend.hpp"
#include "triad/reference/dropout.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_layer_norm(backend&, matrix<T const> x, vec<T const> gain, vec<T const> bias, T epsilon, matrix<T> y,
                   vec<T> mean, vec<T> rstd) {
  index_t const d = x.extent(1);
  for (index_t r = 0; r < x.extent(0); ++r) {
    T m = 0, v = 0;
    for (index_t c = 0; c < d; ++c) m += x(r, c);
    m /= T(d);
    for (index_t c = 0; c < d; ++c) v += (x(r, c) - m) * (x(r, c) - m);
    T const s = T(1) / std::sqrt(v / T(d) + epsilon);
    for (index_t c = 0; c < d; ++c) y(r, c) = gain(c) * (x(r, c) - m) * s + bias(c);
    mean(r) = m;
    rstd(r) = s;
  }
}

template <class T>
std::size_t do_layer_norm_grad_workspace(backend&, matrix<T const>) {
  return 0;
}

template <class T>
void do_layer_norm_grad(backend&, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                        matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias, workspace) {
  index_t const d = x.extent(1);
  for (index_t r = 0; r < x.extent(0); ++r) {
    T sum_g = 0, sum_gz = 0;
    for (index_t c = 0; c < d; ++c) {
      T const z = (x(r, c) - mean(r)) * rstd(r), g = gain(c) * dy(r, c);
      sum_g += g;
      sum_gz += g * z;
      dgain(c) += dy(r, c) * z;
      dbias(c) += dy(r, c);
    }
    for (index_t c = 0; c < d; ++c) {
      T const z = (x(r, c) - mean(r)) * rstd(r), g = gain(c) * dy(r, c);
      dx(r, c) = rstd(r) * (g - sum_g / T(d) - z * sum_gz / T(d)) + (add.extent(0) != 0 ? add(r, c) : T(0));
    }
  }
}
template <class Ex, class T>
void do_layer_norm_grad(Ex& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                        matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias, workspace ws,
                        dropout_mask mask, matrix<T> dropped) {
  layer_norm_grad_by_parts(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws, mask, dropped);
}

}  // namespace triad::TRIAD_REFERENCE
