// Named functions of one or two numbers, callable on host and device, for elementwise operations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "triad/core/contracts.hpp"

namespace triad {

namespace detail {
/// a < 0, or -0; NaN is not, whatever its sign.  By the bits as a signed number, in which -0 to -infinity come before
/// all others: one comparison, which compilers vectorise, and one that holds where they may assume that there is no
/// NaN.
template <class T>
TRIAD_HOST_DEVICE constexpr bool is_negative(T a) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_bit_cast(std::int32_t, a) <= -0x800000;
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_bit_cast(std::int64_t, a) <= -0x10000000000000;
  else
    return a < T(0);
}
/// +0, by its bits.
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

// Element by element: value and, where it has one, the gradient by `name_grad` from the stored output, or from what is
// said.
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
/// x where it is positive or NaN, else 0.
struct relu {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T a) const {
    return detail::is_negative(a) ? T(0) : a;
  }
};
/// dx = dy where the output y is positive or NaN; relu(0) has derivative 0.
struct relu_grad {
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T y, T dy) const {
    return detail::is_negative(y) || detail::is_plus_zero(y) ? T(0) : dy;
  }
};

/// x where it is positive, else slope x.
template <class S>
struct leaky_relu {
  S slope;
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T x) const {
    return x > T(0) ? x : T(slope) * x;
  }
};
/// dx from the input x, or from the output where the slope is positive; at 0 the derivative is the slope.
template <class S>
struct leaky_relu_grad {
  S slope;
  template <class T>
  TRIAD_HOST_DEVICE constexpr T operator()(T x, T dy) const {
    return x > T(0) ? dy : T(slope) * dy;
  }
};
/// x where it is positive, else exp(x) - 1.
struct elu {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? x : std::expm1(x);
  }
};
/// dx from the input x.
struct elu_grad {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x, T dy) const {
    return x > T(0) ? dy : dy * std::exp(x);
  }
};

/// x times the probability that a normal variable is below x.
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
/// dx from the input x.
struct gelu_grad {
  template <class T>
  TRIAD_HOST_DEVICE T operator()(T x, T dy) const {
    return dy * (gelu::below(x) + x * std::exp(x * x * T(-0.5)) * T(0.39894228040143267794));
  }
};

}  // namespace triad
