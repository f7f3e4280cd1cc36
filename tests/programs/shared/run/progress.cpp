// Tests the lines that report the progress of training.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/progress.hpp"

#include <cstddef>
#include <cstdio>
#include <string>

#include "tests/catch.hpp"
#include "tests/programs/shared/scratch_file.hpp"

namespace programs_progress_tests {

using triad::test::scratch_file;

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST_CASE("progress is a line for each tenth where there is no terminal") {
  scratch_file const file;
  std::FILE* const out = std::fopen(file.path.c_str(), "w");
  REQUIRE(out != nullptr);
  {
    triad::programs::progress progress("epoch 3", 500, "examples", 100, out);
    for (int i = 100; i <= 500; ++i) progress.update(i, "loss 0.5");
  }
  std::fclose(out);
  auto const text = file.content();
  CHECK(count(text, "\n") == 8);
  CHECK(count(text, "epoch 3") == 8);
  CHECK(count(text, "examples/s") == 8);
  CHECK(count(text, "100%") == 1);
  CHECK(triad::programs::duration(59.96) == "1 min 00 s");
  CHECK(triad::programs::duration(7320) == "2 h 02 min");
}

}  // namespace programs_progress_tests
