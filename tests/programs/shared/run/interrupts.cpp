// Tests the signals that end a run.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/interrupts.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"

namespace programs_interrupts_tests {

using namespace triad::programs;

TEST_CASE("Ctrl-C and SIGTERM are noted once, with their exit status, and end the program the second time") {
  for (int const signal : {SIGINT, SIGTERM}) {
    auto const child = ::fork();
    if (child == 0) {
      interrupt_guard const guard;
      ::raise(signal);
      if (interrupted_status() != 128 + signal) ::_exit(1);
      ::raise(signal == SIGINT ? SIGTERM : SIGINT);
      ::_exit(2);
    }
    REQUIRE(child > 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == (signal == SIGINT ? SIGTERM : SIGINT));
  }
}

}  // namespace programs_interrupts_tests
