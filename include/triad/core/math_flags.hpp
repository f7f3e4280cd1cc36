// A namespace whose name depends on the floating-point flags of a translation unit.
// SPDX-License-Identifier: Apache-2.0
//
// With -ffast-math, or with one of its parts, a compiler may reorder sums and may assume that there is no NaN.  If two
// units contain the same inline function, the linker keeps one copy for the whole program.  So a unit compiled with
// such flags could change the results of all other units.  The namespaces of the reference, the CPU backend and its
// kernels prevent this, because functions compiled with other flags have other names.  Code that belongs to no backend,
// such as the code of trees, has the same name under all flags.  The compilers' macros tell whether -ffast-math or
// -ffinite-math-only is set; those of g++ tell it for all such flags.
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

// The namespace of the reference, inside of triad.  Both the cpu backend and units with other flags call the reference.
#define TRIAD_REFERENCE reference TRIAD_MATH_FLAGS
