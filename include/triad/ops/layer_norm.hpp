// Layer normalisation of rows, with the biased variance.
// SPDX-License-Identifier: Apache-2.0
//
//   z = (x - mean) rstd,  rstd = 1 / sqrt(var + epsilon)          x, y, z (rows, d); mean, rstd (rows)
//   y = gain z + bias                                             gain, bias (d)
//   g = gain dy;  dx = rstd (g - mean_c g - z mean_c(g z));  dgain += sum_r dy z;  dbias += sum_r dy
//   db = keep dx / (1 - rate),  if x = a + drop(b)             db (rows, d), the gradient before dropout
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/kept_factor.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"

namespace triad {

namespace detail {
template <class T>
void expect_layer_norm(char const* operation, matrix<T const> x, vec<T const> gain, vec<T const> bias, matrix<T> y,
                       vec<T> mean, vec<T> rstd) {
  expect_same_shape(operation, "y", y, x);
  expect_shape(operation, "gain", gain, {x.extent(1)});
  expect_shape(operation, "bias", bias, {x.extent(1)});
  expect_shape(operation, "mean", mean, {x.extent(0)});
  expect_shape(operation, "rstd", rstd, {x.extent(0)});
}
}  // namespace detail

/// Normalises each row of x.  Overwrites y, mean and rstd.  If `rounded` is not empty, overwrites `rounded` with y in
/// bfloat16.
template <backend Ex, class X, class Gain, class Bias, class Y, class Mean, class Rstd>
void layer_norm(Ex& ex, X x, Gain gain, Bias bias, double epsilon, Y y, Mean mean, Rstd rstd,
                matrix<bfloat16> rounded = no_matrix<bfloat16>()) {
  using T = element_t<Y>;
  matrix<T const> const in = as_matrix(x);
  detail::expect_layer_norm<T>("layer_norm", in, as_vec(gain), as_vec(bias), as_matrix(y), as_vec(mean), as_vec(rstd));
  auto const normalise = [&](auto const&... more) {
    do_layer_norm(ex, in, vec<T const>(as_vec(gain)), vec<T const>(as_vec(bias)), T(epsilon), as_matrix(y),
                  as_vec(mean), as_vec(rstd), more...);
  };
  if (rounded.extent(0) != 0) expect_same_shape("layer_norm", "rounded", rounded, in);
  if constexpr (executes<Ex>) {
    if constexpr (rounds_factors<Ex> && std::same_as<T, float>)
      if (rounded.extent(0) != 0) return normalise(rounded);
    normalise();
  }
}

/// The hook with dropout by the hooks of the norm and of dropout, for backends that do not compute both at once.
template <class Ex, class T>
void layer_norm_grad_by_parts(Ex& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                              matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias,
                              workspace ws, dropout_mask mask, matrix<T> dropped) {
  do_layer_norm_grad(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws);
  do_dropout(ex, mask, matrix<T const>(dx), dropped);
}

/// Computes the gradients.  Overwrites dx with the gradient of x, plus `add` if `add` is not empty.  dx may be dy or
/// `add`.  Adds to dgain and dbias.  If `mask` drops elements, also overwrites `dropped` (rows, d) with the
/// gradient before dropout, as dropout_grad(ex, mask, dx, dropped) does.  `dropped` is memory of its own.
template <backend Ex, class X, class Gain, class Mean, class Rstd, class Dy, class Dx, class DGain, class DBias>
void layer_norm_grad(Ex& ex, arena& scratch, X x, Gain gain, Mean mean, Rstd rstd, Dy dy,
                     matrix<element_t<Dx> const> add, Dx dx, DGain dgain, DBias dbias, dropout_mask mask = {},
                     matrix<element_t<Dx>> dropped = no_matrix<element_t<Dx>>()) {
  using T = element_t<Dx>;
  matrix<T const> const in = as_matrix(x);
  expect_same_shape("layer_norm_grad", "dy", dy, x);
  expect_same_shape("layer_norm_grad", "dx", dx, x);
  if (add.extent(0) != 0) expect_same_shape("layer_norm_grad", "add", add, in);
  expect_shape("layer_norm_grad", "gain", as_vec(gain), {in.extent(1)});
  expect_shape("layer_norm_grad", "dgain", as_vec(dgain), {in.extent(1)});
  expect_shape("layer_norm_grad", "dbias", as_vec(dbias), {in.extent(1)});
  expect_shape("layer_norm_grad", "mean", as_vec(mean), {in.extent(0)});
  expect_shape("layer_norm_grad", "rstd", as_vec(rstd), {in.extent(0)});
  expect_rate("layer_norm_grad", mask);
  if (mask.active()) expect_same_shape("layer_norm_grad", "dropped", dropped, in);
  with_workspace(ex, scratch, do_layer_norm_grad_workspace(planning(ex), in), [&](auto ws) {
    auto const compute = [&](auto const&... more) {
      do_layer_norm_grad(ex, in, vec<T const>(as_vec(gain)), vec<T const>(as_vec(mean)), vec<T const>(as_vec(rstd)),
                         matrix<T const>(as_matrix(dy)), add, as_matrix(dx), as_vec(dgain), as_vec(dbias), ws, more...);
    };
    if (mask.active()) return compute(mask, dropped);
    compute();
  });
}

}  // namespace triad
