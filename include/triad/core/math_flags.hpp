// A namespace that depends on the floating-point flags of a translation unit, so that other flags give other names.
// SPDX-License-Identifier: Apache-2.0
//
// With -ffast-math, or with one of its parts, sums may be reordered and NaN may be assumed absent.  If two units
// contain the same inline function, the linker keeps one copy for the whole program.  So units compiled with such flags
// could change the bits of all others.  The namespaces of the reference, the CPU backend and its kernels prevent this.
// Code without a backend, such as that of trees, has the same name under all flags.  Macros show -ffast-math and
// -ffinite-math-only, and g++ has macros for all such flags.
#pragma once

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#if __FINITE_MATH_ONLY__
#define TRIAD_MATH_FLAGS ::inline fast_math
#else
#define TRIAD_MATH_FLAGS ::inline unsafe_math
#endif
#elif __FINITE_MATH_ONLY__
#define TRIAD_MATH_FLAGS ::inline finite_math
#else
#define TRIAD_MATH_FLAGS
#endif

// The namespace of the reference, inside of triad.  The cpu backend calls the reference, and so do units with other
// flags.
#define TRIAD_REFERENCE reference TRIAD_MATH_FLAGS
