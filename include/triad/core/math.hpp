// Named functions of one or two numbers for elementwise operations.  They can be called on the host and on a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "triad/core/contracts.hpp"

namespace triad {

namespace detail {
/// Returns true if a < 0 or a is -0.  Returns false if a is NaN.  The bits of a are compared as a signed integer.  The
/// integers of -0 to -infinity are below the integers of all other values, so a single comparison is enough.  Compilers
/// can vectorise this comparison, and its result is correct even if they assume that there is no NaN.
template <class T>
TRIAD_HOST_DEVICE constexpr bool is_negative(T a) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_bit_cast(std::int32_t, a) <= -0x800000;
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_bit_cast(std::int64_t, a) <= -0x10000000000000;
  else
    return a < T(0);
}
/// Returns true if a is +0, and false if a is -0.
template <class T>
TRIAD_HOST_DEVICE constexpr bool is_plus_zero(T a) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_bit_cast(std::int32_t, a) == 0;
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_bit_cast(std::int64_t, a) == 0;
  else
    return a == T(0);
}
}  // namespace detail

// Elementwise functions.  If a function `name` has a gradient, `name_grad` computes the gradient.  The argument of
// `name_grad` is the output of `name`, unless a comment says that the argument is the input.
struct unchanged {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T a) const {
    return a;
  }
};
struct plus {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return a + b;
  }
};
struct times {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return a * b;
  }
};
template <class S>
struct scale_by {
  S factor;
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T a) const {
    return a * T(factor);
  }
};
/// Returns x if it is positive or NaN, else 0.
struct relu {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T a) const {
    return detail::is_negative(a) ? T(0) : a;
  }
};
/// Returns dx = dy if the output y is positive or NaN, else 0.  The derivative of relu at 0 is 0.
struct relu_grad {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T y, T dy) const {
    return detail::is_negative(y) || detail::is_plus_zero(y) ? T(0) : dy;
  }
};

/// Returns x if it is positive, else slope x.
template <class S>
struct leaky_relu {
  S slope;
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T x) const {
    return x > T(0) ? x : T(slope) * x;
  }
};
/// Returns dx from the input x.  If the slope is positive, the output may be passed instead of the input.  The
/// derivative at 0 is the slope.
template <class S>
struct leaky_relu_grad {
  S slope;
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T x, T dy) const {
    return x > T(0) ? dy : T(slope) * dy;
  }
};
/// Returns x if it is positive, else exp(x) - 1.
struct elu {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? x : std::expm1(x);
  }
};
/// Returns dx from the input x.
struct elu_grad {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x, T dy) const {
    return x > T(0) ? dy : dy * std::exp(x);
  }
};

/// Returns 1 / (1 + exp(-x)).
struct sigmoid {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};
/// Returns dx from the output y.
struct sigmoid_grad {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T y, T dy) const {
    return dy * (y * (T(1) - y));
  }
};

/// Returns x times the probability that a standard normal variable is below x.
struct gelu {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x) const {
    return x * below(x);
  }
  template <class T>
  TRIAD_HOST_DEVICE static T below(T x) {
    return T(0.5) * (T(1) + std::erf(x * T(0.70710678118654752440)));
  }
};
/// Returns dx from the input x.
struct gelu_grad {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x, T dy) const {
    return dy * (gelu::below(x) + x * std::exp(x * x * T(-0.5)) * T(0.39894228040143267794));
  }
};

}  // namespace triad
