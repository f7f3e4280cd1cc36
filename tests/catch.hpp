// Includes Catch2, version 2 or 3. Tests include this file, and use only what both versions have: matchers, but neither
// Approx nor SKIP. A machine may have the headers of both versions, so CMake sets TRIAD_TEST_CATCH2 to the version that
// it found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#if TRIAD_TEST_CATCH2 >= 3
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

// The programs that run typed tests on the stand-in for a GPU run only typed tests. An ordinary test in their source
// files becomes a template that is never instantiated, so its code is not compiled again.
#if defined(TRIAD_TEST_ON_CUDA) && !defined(__CUDACC__)
#define TRIAD_NOT_OF_A_DEVICE_AT(line) not_of_a_device_at_##line
#define TRIAD_NOT_OF_A_DEVICE(line) TRIAD_NOT_OF_A_DEVICE_AT(line)
#undef TEST_CASE
#define TEST_CASE(...) \
  template <class>     \
  [[maybe_unused]] static void TRIAD_NOT_OF_A_DEVICE(__LINE__)()
#endif

namespace triad::test {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

/// Matches text that contains `part`: REQUIRE_THROWS_WITH(f(), contains("row 3")).
inline auto contains(std::string const& part) {
#if TRIAD_TEST_CATCH2 >= 3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

}  // namespace triad::test
