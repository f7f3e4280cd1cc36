// Tests the name under which a program was called.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/called_by.hpp"

#include "tests/catch.hpp"

namespace programs_called_by_tests {

TEST_CASE("a program has its older name where the command is a file of that name, and else its own") {
  auto const called = [](char const* command) { return triad::programs::called_by(1, &command, "new-name", "old"); };
  CHECK(called("old") == "old");
  CHECK(called("build/bin/old") == "old");
  CHECK(called("new-name") == "new-name");
  for (auto const* other : {"older", "old-on-cuda-on-host", "old/program", ""}) CHECK(called(other) == "new-name");
  CHECK(triad::programs::called_by(0, nullptr, "new-name", "old") == "new-name");
}

}  // namespace programs_called_by_tests
