// Memory that starts as NaN and has guard bytes on both sides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace triad::cuda_on_host {

/// Allocates memory, aligned to 256 bytes.  Its bytes are 0xFF: NaN as a floating-point number, -1 as an integer.
void* allocate_guarded(std::size_t bytes);
/// Returns true if nothing was written outside the memory. Under ASan, always returns true, because ASan stops at the
/// access.
bool guards_hold(void const* p, std::size_t bytes);
/// Restores the guards, so that a write is not reported twice.
void mend_guards(void* p, std::size_t bytes);
/// Fills the memory with NaN before it is freed, so that later reads are noticed.
void free_guarded(void* p, std::size_t bytes) noexcept;

}  // namespace triad::cuda_on_host
