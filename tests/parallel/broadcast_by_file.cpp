// Tests processes that find each other through files. All processes must get the bytes of process 0, whatever files an
// earlier run has left.
// SPDX-License-Identifier: Apache-2.0
#include "triad/parallel/broadcast_by_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/threads_as_processes.hpp"

namespace parallel_broadcast_by_file_tests {

using namespace triad;
using namespace std::chrono_literals;
using test::contains;
using test::in_threads;
using test::one_of_threads;

struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("triad-broadcast-" + detail::drawn_number());
  folder() { std::filesystem::create_directory(path); }
  ~folder() { std::filesystem::remove_all(path); }
  std::string file() const { return (path / "id.4711").string(); }
  void leave(std::string const& name, std::string const& text) const { std::ofstream(file() + name) << text; }
};

std::string bytes_of_run(int run) {
  std::string bytes(128, static_cast<char>(run));
  for (std::size_t i = 0; i < bytes.size(); i += 3) bytes[i] = static_cast<char>(i * 2);
  return bytes;
}

/// Returns the bytes that each process gets, or the text of its error. Process `late` starts a moment after the others.
std::vector<std::string> all_get(folder const& where, int size, std::string const& bytes, int late = -1,
                                 std::chrono::milliseconds patience = 20s) {
  std::vector<std::string> got(static_cast<std::size_t>(size));
  in_threads(size, [&](one_of_threads& me) {
    auto& mine = got[static_cast<std::size_t>(me.rank())];
    if (me.rank() == late) std::this_thread::sleep_for(50ms);
    try {
      mine = broadcast_by_file(where.file(), me.rank(), size, me.rank() == 0 ? bytes : "others have none", patience);
    } catch (communication_error const& e) {
      mine = e.what();
    }
  });
  return got;
}

TEST_CASE("all get the bytes of process 0, and no file stays") {
  folder const where;
  for (int const size : {1, 2, 4})
    for (int late = -1; late < size; ++late) {
      CAPTURE(size, late);
      for (auto const& got : all_get(where, size, bytes_of_run(size), late)) CHECK(got == bytes_of_run(size));
      CHECK(std::filesystem::is_empty(where.path));
    }
}

TEST_CASE("files of an earlier run are not taken, whichever process comes first") {
  std::string const one(32, 'a'), two(32, 'b'), three(32, 'c');
  auto const old_bytes = "x" + detail::hexadecimal_bytes(bytes_of_run(9)) + "\nend\n";
  for (int late = -1; late < 4; ++late) {
    CAPTURE(late);
    folder const where;
    where.leave("", one + "\n" + two + "\n" + three + "\n" + old_bytes);
    where.leave(".1", "wants " + one + "\n");  // as if a process was killed before it read anything
    where.leave(".2", "has " + two + "\n");
    where.leave(".3", "wants ");
    for (auto const& got : all_get(where, 4, bytes_of_run(1), late)) CHECK(got == bytes_of_run(1));
    CHECK(std::filesystem::is_empty(where.path));
  }
}

TEST_CASE("a file that cannot be put in its place leaves no draft") {
  folder const where;
  std::filesystem::create_directories(where.path / "taken" / "inside");
  CHECK_THROWS_WITH(detail::move_into_place((where.path / "taken").string(), "text"), contains("cannot be written: "));
  CHECK_FALSE(std::filesystem::exists(where.path / "taken.draft"));
}

TEST_CASE("what waits in vain says for whom") {
  folder const where;
  auto const short_wait = 100ms;
  CHECK_THROWS_WITH(broadcast_by_file(where.file(), 2, 4, "", short_wait),
                    contains("process 2 has waited 0 s for process 0 of 4"));
  CHECK(std::filesystem::is_empty(where.path));
  // Only process 0 runs. All other files are from an earlier run, so no other process may count as present.
  where.leave(".1", "wants " + std::string(32, 'a') + "\n");
  where.leave(".2", "has " + std::string(32, 'b') + "\n");
  where.leave(".3", "has " + std::string(32, 'c') + "\n");
  CHECK_THROWS_WITH(broadcast_by_file(where.file(), 0, 4, "bytes", short_wait), contains("for process 1, 2, 3 of 4"));
  // If the number of processes differs, the files are treated as files of a different run.
  std::vector<std::string> message(2);
  in_threads(2, [&](one_of_threads& me) {
    try {
      (void)broadcast_by_file(where.file() + "5", me.rank(), me.rank() == 0 ? 2 : 4, "bytes", short_wait);
    } catch (communication_error const& e) {
      message[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  CHECK_THAT(message[0], contains("for process 1 of 2"));
  CHECK_THAT(message[1], contains("with one number of processes"));
  CHECK_THROWS_WITH(broadcast_by_file((where.path / "none" / "id").string(), 1, 2, "", short_wait),
                    contains("cannot be written"));
}

}  // namespace parallel_broadcast_by_file_tests
