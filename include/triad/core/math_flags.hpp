// The exactness of a unit's compiler flags as a namespace, so that code compiled with other flags has other names.
// SPDX-License-Identifier: Apache-2.0
//
// By -ffast-math and what it consists of, sums are taken in another order and no NaN is expected.  Of two copies of an
// inline function a linker keeps one for the whole program: without a name of their own, units compiled by such flags
// would change the bits of all others.  The reference, the CPU backend and its kernels have such names; what takes no
// backend, such as trees, has one.  Macros tell -ffast-math and -ffinite-math-only, and of g++ all such flags.
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

// The namespace of the reference, in triad: the cpu backend calls it, and so do units of their own flags.
#define TRIAD_REFERENCE reference TRIAD_MATH_FLAGS
