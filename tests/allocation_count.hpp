// Counts the allocations of a program if one of its sources includes tests/allocations.hpp; otherwise the count stays
// 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace triad::test {
inline std::atomic<long> allocations{0};
}  // namespace triad::test
