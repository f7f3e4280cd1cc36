// Tests files that only the first of several processes writes. A file must be written completely or not at all.
// SPDX-License-Identifier: Apache-2.0
#include "shared/processes/first_writes.hpp"

#include "tests/catch.hpp"
#include "tests/programs/shared/scratch_file.hpp"
#include "triad/core/errors.hpp"

namespace programs_first_writes_tests {

using triad::test::scratch_file;

TEST_CASE("writing replaces a file whole") {
  scratch_file const file("old\n");
  triad::programs::first_writes(file.path, "new\n");
  CHECK(file.content() == "new\n");
  CHECK_THROWS_AS(triad::programs::first_writes("/proc/no-such-folder/a", "x"), triad::data_error);
}

}  // namespace programs_first_writes_tests
