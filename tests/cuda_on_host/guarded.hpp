// Memory that starts as NaN, with guards on both sides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace triad::cuda_on_host {

/// Bytes of 0xFF: NaN as a floating-point number, -1 as an integer.  Aligned to 256 bytes.
void* allocate_guarded(std::size_t bytes);
/// Whether nothing was written outside. Always true under ASan, which stops at the access itself.
bool guards_hold(void const* p, std::size_t bytes);
/// Restores the guards, so that a write is reported only once.
void mend_guards(void* p, std::size_t bytes);
/// Fills the memory with NaN again before it is freed, so that later reads show.
void free_guarded(void* p, std::size_t bytes) noexcept;

}  // namespace triad::cuda_on_host
