// Runs the typed tests of a program. Skips all other tests in its source files, because they do not depend on the
// device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if TRIAD_TEST_CATCH2 >= 3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

namespace triad::test {

/// Returns the exit status for main(). If the command line names tests, runs only these.
inline int run_typed_tests(int count, char** words) {
  Catch::Session session;
  if (int const status = session.applyCommandLine(count, words); status != 0) return status;
  if (auto& chosen = session.configData().testsOrTags; chosen.empty()) chosen.push_back("*triad::test::on_device*");
#if TRIAD_TEST_CATCH2 >= 3
  return session.run();  // a run without any test fails
#else
  session.configData().warnings = Catch::WarnAbout::NoTests;
  return session.run();
#endif
}

}  // namespace triad::test
