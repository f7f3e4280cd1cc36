// Runs the typed tests of a program and leaves out the others in its sources, which are not about a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if TRIAD_TEST_CATCH2 >= 3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

namespace triad::test {

/// What main() returns.  Tests that are named on the command line are run instead.
inline int run_typed_tests(int count, char** words) {
  Catch::Session session;
  if (int const status = session.applyCommandLine(count, words); status != 0) return status;
  if (auto& chosen = session.configData().testsOrTags; chosen.empty()) chosen.push_back("*triad::test::on_device*");
#if TRIAD_TEST_CATCH2 >= 3
  return session.run();  // no test at all is a failure
#else
  session.configData().warnings = Catch::WarnAbout::NoTests;
  return session.run();
#endif
}

}  // namespace triad::test
