// Tests that only one process at a time can use the folder of a run, and that files of killed processes are removed.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/run_lock.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "shared/processes/processes.hpp"
#include "tests/catch.hpp"
#include "triad/core/errors.hpp"

namespace programs_run_lock_tests {

using namespace triad::programs;

struct scratch_folder {
  std::string path = (std::filesystem::temp_directory_path() / ("triad-runs-" + std::to_string(::getpid()))).string();

  scratch_folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() { std::filesystem::remove_all(path); }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(path)) names.insert(entry.path().filename().string());
    return names;
  }
  std::string text(std::string const& name) const {
    std::ifstream file(path + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(std::string const& name, std::string const& content = {}) const {
    std::ofstream(path + "/" + name) << content;
  }
};

/// Locks the folder in another process. Returns 0 if the process gets the lock, and 1 if the lock is refused. If
/// `stays`, the process keeps the lock until it is killed, and its process number is returned.
int in_another_process(std::string const& folder, bool stays = false) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  auto const child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      run_lock const lock(folder);
      (void)!::write(ready[1], "x", 1);
      while (stays) ::pause();
      ::_exit(0);
    } catch (triad::data_error const&) {
      ::_exit(1);
    }
  }
  ::close(ready[1]);
  if (stays) {
    char one = 0;
    REQUIRE(::read(ready[0], &one, 1) == 1);
    ::close(ready[0]);
    return child;
  }
  ::close(ready[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

std::string refusal(std::string const& folder) {
  try {
    run_lock const lock(folder);
  } catch (triad::data_error const& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("a folder has one run at a time, and the second gets its owner") {
  scratch_folder const folder;
  auto const other = in_another_process(folder.path, true);
  auto const message = refusal(folder.path);
  CHECK(message.find("has a run already: process " + std::to_string(other) + " on " + host_name() + ", since 2") !=
        std::string::npos);
  CHECK(message.find("--out") != std::string::npos);
  REQUIRE(::kill(other, SIGKILL) == 0);
  ::waitpid(other, nullptr, 0);
  CHECK(folder.files() == std::set<std::string>{"run.lock"});  // a killed run leaves it, and the next run uses it
  CHECK(refusal(folder.path).empty());
  CHECK(folder.files().empty());
}

TEST_CASE("a lock is of the process: its own second lock is of no effect, and the end of the first leaves nothing") {
  scratch_folder const folder;
  {
    run_lock const lock(folder.path);
    {
      run_lock const again(folder.path + "/.");
      CHECK(process_name::from(folder.text("run.lock")).number == ::getpid());
    }
    CHECK(folder.files() == std::set<std::string>{"run.lock"});
  }
  CHECK(folder.files().empty());
  CHECK(in_another_process(folder.path) == 0);
}

TEST_CASE("a run whose lock file was removed leaves the next run's alone") {
  scratch_folder const folder;
  {
    run_lock const lock(folder.path);
    std::filesystem::remove(folder.path + "/run.lock");
    folder.write("run.lock", "the next run's");
  }
  CHECK(folder.text("run.lock") == "the next run's");
}

TEST_CASE("what killed runs left half written is removed, and what is another's is not") {
  scratch_folder const folder;
  auto const gone = ::fork();
  if (gone == 0) ::_exit(0);
  REQUIRE(gone > 0);
  ::waitpid(gone, nullptr, 0);
  auto const busy = ::fork();
  if (busy == 0) {
    while (true) ::pause();
  }
  REQUIRE(busy > 0);
  auto const own = ".part" + std::to_string(::getpid()), dead = ".part" + std::to_string(gone),
             running = ".part" + std::to_string(busy);
  for (auto const& name : {"model.safetensors" + dead, "metrics.csv" + own, "choices.jsonl" + dead, "loss.svg" + dead})
    folder.write(name);
  std::set<std::string> const others{"notes" + dead, "model.safetensors", "model.safetensors.part",
                                     "model.safetensors.part7x", "model.safetensors" + running};
  for (auto const& name : others) folder.write(name);
  {
    run_lock const lock(folder.path);
  }
  CHECK(folder.files() == others);
  // A running process may have the number of a dead process. The file is older than the running process, so it belongs
  // to the dead process.
  std::filesystem::last_write_time(folder.path + "/model.safetensors" + running,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 3650));
  remove_leftovers(folder.path);
  CHECK(folder.files().count("model.safetensors" + running) == 0);
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
}

}  // namespace programs_run_lock_tests
