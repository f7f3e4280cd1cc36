// Tests atomic files: at whatever time the process is killed, either the complete old file or the complete new file
// exists.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/atomic_file.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace io_atomic_file_tests {

using namespace triad;
using triad::test::content;
using triad::test::scratch_folder;

std::vector<std::byte> filled(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

TEST_CASE("a file that was not committed leaves the old one and nothing else") {
  scratch_folder const folder;
  auto const path = folder / "data";
  triad::test::write_content(path, filled(10, 1));
  {
    atomic_file file(path);
    file.write(filled(20, 2));
    CHECK(content(path) == filled(10, 1));
  }
  CHECK(content(path) == filled(10, 1));
  CHECK(folder.entries() == 1);
  atomic_file file(path);
  file.write(filled(20, 2));
  file.write(filled(3, 2));
  file.commit();
  CHECK(content(path) == filled(23, 2));
  CHECK(folder.entries() == 1);
}

TEST_CASE("what a killed writer left next to a file is neither read nor in the way") {
  scratch_folder const folder;
  auto const path = folder / "data";
  triad::test::write_content(path, filled(10, 1));
  triad::test::write_content(path + ".part" + std::to_string(::getpid()), filled(5, 9));
  triad::test::write_content(path + ".part1", filled(5, 9));
  atomic_file file(path);
  file.write(filled(2, 3));
  file.commit();
  CHECK(content(path) == filled(2, 3));
  CHECK(content(path + ".part1") == filled(5, 9));
}

TEST_CASE("a writer killed at any moment leaves one whole content") {
  scratch_folder const folder;
  auto const path = folder / "data";
  std::size_t const size = std::size_t{1} << 20;
  triad::test::write_content(path, filled(size, 1));
  for (int round = 0; round < 5; ++round) {
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (int value = 1;; value = value % 100 + 1) {
        atomic_file file(path);
        auto const half = filled(size / 2, value);
        file.write(half);
        file.write(half);
        file.commit();
      }
    }
    ::usleep(static_cast<useconds_t>(3000 + 2711 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    auto const now = content(path);
    REQUIRE(now.size() == size);
    CHECK(now == filled(size, static_cast<int>(now.front())));
  }
}

}  // namespace io_atomic_file_tests
