// The number of allocations of a program so far.  It stays 0 unless one of the program's source files includes
// tests/allocations.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace triad::test {
inline std::atomic<long> allocations{0};
}  // namespace triad::test
