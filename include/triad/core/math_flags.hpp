// A namespace whose name depends on the floating-point flags of a translation unit.
// SPDX-License-Identifier: Apache-2.0
//
// With -ffast-math, or with one of its parts, a compiler may reorder sums and may assume that there is no NaN.  If two
// units contain the same inline function, the linker keeps one copy for the whole program.  So a unit compiled with
// such flags could change the results of all other units.  To prevent this, the reference, the CPU backend and its
// kernels are in namespaces whose names depend on the flags.  So functions that are compiled with different flags have
// different names.  Code that belongs to no backend, such as the code for trees, has the same names under all flags.
// The macros of all compilers show whether -ffast-math or -ffinite-math-only is set.  The macros of g++ also show the
// other flags.
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

// The namespace of the reference, inside of namespace triad.  The cpu backend calls functions of the reference, and so
// do units with other flags.
#define TRIAD_REFERENCE reference TRIAD_MATH_FLAGS
