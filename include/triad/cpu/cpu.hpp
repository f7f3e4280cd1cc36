// Includes all operations of the cpu backend.  If the cpu backend does not implement an operation, the reference
// backend computes it.
// SPDX-License-Identifier: Apache-2.0
// If TRIAD_KERNELS is `extern`, the kernels are only declared, because the target triad::kernels has compiled them.
#pragma once

#include "triad/cpu/backend.hpp"
#include "triad/reference/reference.hpp"

// Declares or compiles the hooks that the cpu backend implements.  kernels/compiled_for.hpp explains TRIAD_KERNELS.
#if defined(TRIAD_KERNELS)
#define TRIAD_HOOK(hook, on_cpu) TRIAD_HOOK_##on_cpu(hook)
#define TRIAD_HOOK_cpu(hook) \
  TRIAD_HOOK_cpu_in_float(hook) TRIAD_KERNELS template decltype(triad::cpu::hook<double>) triad::cpu::hook<double>;
#define TRIAD_HOOK_cpu_in_float(hook) TRIAD_KERNELS template decltype(triad::cpu::hook<float>) triad::cpu::hook<float>;
#define TRIAD_HOOK_reference(hook)
#else
#define TRIAD_HOOK(hook, on_cpu)
#endif
#define TRIAD_OPERATION(name, on_cpu) TRIAD_PATH(on_cpu, name, hpp)
#include "triad/ops/hooks.inc"
#undef TRIAD_HOOK_cpu
#undef TRIAD_HOOK_cpu_in_float
#undef TRIAD_HOOK_reference
