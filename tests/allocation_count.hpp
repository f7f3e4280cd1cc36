// The number of allocations of a program so far.  Unless a source file of the program includes tests/allocations.hpp,
// the number is always 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace triad::test {
inline std::atomic<long> allocations{0};
}  // namespace triad::test
