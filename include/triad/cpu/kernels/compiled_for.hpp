// What the compiled kernels of triad::kernels are compiled for; a unit that is compiled for anything else does not link
// with them.
// SPDX-License-Identifier: Apache-2.0
//
// TRIAD_KERNELS is `extern` in units that use compiled kernels, nothing in the unit that has them, and not defined
// where each unit compiles its own.  The number of lanes follows from the instruction set, the memory that a kernel is
// given from the number of lanes, and views are other types where indices are checked.  So two units that call one
// kernel by different flags would crash, and the linker would not know why.
#pragma once

#include "triad/core/mdspan.hpp"

namespace triad::cpu {

#if defined(__AVX512F__)
using instructions = struct avx512;
#elif defined(__AVX__) && defined(__FMA__)
using instructions = struct avx_with_fma;
#elif defined(__AVX__)
using instructions = struct avx;
#elif defined(__SSE__)
using instructions = struct sse;
#elif defined(__ARM_NEON)
using instructions = struct neon;
#else
using instructions = struct no_vectors;
#endif

#if defined(CCCL_ENABLE_HOST_ASSERTIONS)
using checks = struct with_assertions;
#else
using checks = struct without_assertions;
#endif

template <class Instructions, class Checks>
void kernels_compiled_for() {}

#if defined(TRIAD_KERNELS)
TRIAD_KERNELS template void kernels_compiled_for<instructions, checks>();
[[gnu::used]] static auto* const kernels_for_these_flags = &kernels_compiled_for<instructions, checks>;
#endif

}  // namespace triad::cpu
