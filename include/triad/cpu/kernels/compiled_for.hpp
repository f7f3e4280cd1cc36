// Names an inline namespace after the instruction set and the flags of a translation unit.  So kernels that were
// compiled with different flags have different names.
// SPDX-License-Identifier: Apache-2.0
//
// The instruction set decides the number of lanes, and the number of lanes decides how much memory a kernel needs.  So
// units of one program that were compiled with different flags have separate kernels.  The compiled kernels of the
// target triad::kernels do not link with a unit that was compiled with other flags.  The message of the linker then
// names what the unit needs, for example triad::cpu::avx512::kernels_compiled_here.  The name also contains the flags
// that relax arithmetic (core/math_flags.hpp).
//
// TRIAD_KERNELS is `extern` in units that use compiled kernels, and empty in the unit that compiles the kernels.  If
// each unit compiles its own kernels, TRIAD_KERNELS is not defined.
#pragma once

#include "triad/core/math_flags.hpp"
#include "triad/core/mdspan.hpp"

#if defined(CCCL_ENABLE_HOST_ASSERTIONS)  // views check their indices
#if defined(__AVX512F__)
#define TRIAD_CPU_FLAGS avx512_checked TRIAD_MATH_FLAGS
#elif defined(__AVX__) && defined(__FMA__)
#define TRIAD_CPU_FLAGS avx_with_fma_checked TRIAD_MATH_FLAGS
#elif defined(__AVX__)
#define TRIAD_CPU_FLAGS avx_checked TRIAD_MATH_FLAGS
#elif defined(__SSE__)
#define TRIAD_CPU_FLAGS sse_checked TRIAD_MATH_FLAGS
#elif defined(__ARM_NEON)
#define TRIAD_CPU_FLAGS neon_checked TRIAD_MATH_FLAGS
#else
#define TRIAD_CPU_FLAGS no_vectors_checked TRIAD_MATH_FLAGS
#endif
#else
#if defined(__AVX512F__)
#define TRIAD_CPU_FLAGS avx512 TRIAD_MATH_FLAGS
#elif defined(__AVX__) && defined(__FMA__)
#define TRIAD_CPU_FLAGS avx_with_fma TRIAD_MATH_FLAGS
#elif defined(__AVX__)
#define TRIAD_CPU_FLAGS avx TRIAD_MATH_FLAGS
#elif defined(__SSE__)
#define TRIAD_CPU_FLAGS sse TRIAD_MATH_FLAGS
#elif defined(__ARM_NEON)
#define TRIAD_CPU_FLAGS neon TRIAD_MATH_FLAGS
#else
#define TRIAD_CPU_FLAGS no_vectors TRIAD_MATH_FLAGS
#endif
#endif

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Every unit that uses compiled kernels refers to this function, even if the unit calls only some of the kernels.
template <class = void>
void kernels_compiled_here() {}

#if defined(TRIAD_KERNELS)
TRIAD_KERNELS template void kernels_compiled_here<>();
[[gnu::used]] static auto* const kernels_for_these_flags = &kernels_compiled_here<>;
#endif

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
