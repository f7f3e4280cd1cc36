// Applies a function to every element: y = f(x) or y = f(a, b).
// SPDX-License-Identifier: Apache-2.0
//
// The functions of core/math.hpp, including relu, return NaN for NaN.  If the output of relu is NaN, the gradient of
// relu is dy and not NaN, as in PyTorch.  But the output is NaN, and so is the loss.
//
// Equal inputs give bitwise equal outputs, wherever the inputs are in a tensor.  There is one exception: a function of
// your own that calls std::exp and is compiled with -Ofast or -ffast-math.  Compilers then use one implementation of
// std::exp for whole vectors and another implementation for the remaining elements.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/math.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Computes y = f(x), element by element.  f is a named function object that can be called on the host and on a device.
/// y may be x.
template <backend Ex, class F, class X, class Y>
void transform(Ex& ex, F f, X x, Y y) {
  using T = element_t<Y>;
  expect_same_shape("transform", "y", y, x);
  if constexpr (executes<Ex>) do_transform(ex, f, vec<T const>(as_vec(x)), as_vec(y));
}

/// Computes y = f(a, b), element by element.  y may be a or b.
template <backend Ex, class F, class A, class B, class Y>
void transform(Ex& ex, F f, A a, B b, Y y) {
  using T = element_t<Y>;
  expect_same_shape("transform", "b", b, a);
  expect_same_shape("transform", "y", y, a);
  if constexpr (executes<Ex>) do_transform(ex, f, vec<T const>(as_vec(a)), vec<T const>(as_vec(b)), as_vec(y));
}

/// Sets every element of y to `value`.
template <backend Ex, class Y>
void fill(Ex& ex, element_t<Y> value, Y y) {
  if constexpr (executes<Ex>) do_fill(ex, value, as_vec(y));
}

namespace detail {
/// Returns sum plus fraction times x.  `fraction` points into the backend's memory.
template <class T>
struct add_fraction {
  double const* fraction;
  TRIAD_HOST_DEVICE T operator()(T sum, T x) const { return sum + static_cast<T>(*fraction) * x; }
};
/// Returns fraction times x.
template <class T>
struct take_fraction {
  double const* fraction;
  TRIAD_HOST_DEVICE T operator()(T x) const { return static_cast<T>(*fraction) * x; }
};
/// Computes d *= fraction for a view d, or for each view in a struct d.
template <class T, backend Ex>
struct weigh {
  Ex& ex;
  double const* fraction;

  template <class D>
  void operator()(D const& d) const {
    if constexpr (requires { d.each(*this); })
      d.each(*this);
    else
      transform(ex, take_fraction<T>{fraction}, d, d);
  }
};
}  // namespace detail

}  // namespace triad
