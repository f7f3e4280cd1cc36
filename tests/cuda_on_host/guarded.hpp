// Memory that is all NaN at first, with guards on both sides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace triad::cuda_on_host {

/// Bytes of 0xFF: NaN as a floating-point number, -1 as an integer.  Aligned to 256 bytes.
void* allocate_guarded(std::size_t bytes);
/// Nothing was written outside.  Under ASan always, which stops at the access itself.
bool guards_hold(void const* p, std::size_t bytes);
/// What was written there is forgotten, having been told once.
void mend_guards(void* p, std::size_t bytes);
/// Poisons it again first, against later use.
void free_guarded(void* p, std::size_t bytes) noexcept;

}  // namespace triad::cuda_on_host
