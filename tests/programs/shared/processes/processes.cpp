// Tests the check whether a process that is named in a file still runs.
// SPDX-License-Identifier: Apache-2.0
#include "shared/processes/processes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <ctime>

#include "tests/catch.hpp"

namespace programs_processes_tests {

using namespace triad::programs;

TEST_CASE("a process is there, is gone, has another's number, or is of another host") {
  auto p = this_process();
  CHECK(is_there(p) == still::runs);
  CHECK(p.ticks > 0);
  auto const read = process_name::from(p.text());
  CHECK((read.number == p.number && read.host == p.host && read.since == p.since && read.ticks == p.ticks));
  ++p.ticks;
  CHECK(is_there(p) == still::gone);
  p.host += "-2";
  CHECK(is_there(p) == still::unknown);
  CHECK(is_there(process_name::from("")) == still::gone);
  auto const child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(child > 0);
  ::waitpid(child, nullptr, 0);
  CHECK(is_there({child, host_name(), {}, 0}) == still::gone);
  CHECK(std::abs(static_cast<double>(start_time(::getpid()) - std::time(nullptr))) < 3600);
}

}  // namespace programs_processes_tests
