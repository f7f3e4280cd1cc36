// All operations of the reference backend.
// SPDX-License-Identifier: Apache-2.0
// If TRIAD_KERNELS is `extern`, the hooks are only declared, because the target triad::kernels contains the compiled
// hooks.
#pragma once

#include "triad/reference/backend.hpp"

// Hooks are compiled for float and double.  cpu/kernels/compiled_for.hpp explains TRIAD_KERNELS.
#if defined(TRIAD_KERNELS)
#define TRIAD_HOOK(hook, on_cpu)                                                                \
  TRIAD_KERNELS template decltype(triad::reference::hook<float>) triad::reference::hook<float>; \
  TRIAD_KERNELS template decltype(triad::reference::hook<double>) triad::reference::hook<double>;
#else
#define TRIAD_HOOK(hook, on_cpu)
#endif
#define TRIAD_OPERATION(name, on_cpu) TRIAD_PATH(reference, name, hpp)
#include "triad/ops/hooks.inc"
