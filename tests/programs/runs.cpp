// The folder of a run: one process at a time, nothing left of killed ones; and the mean over the seeds of a run.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "shared/processes/processes.hpp"
#include "shared/run/interrupts.hpp"
#include "shared/run/run_folder.hpp"
#include "shared/run/run_lock.hpp"
#include "shared/run/seed_means.hpp"
#include "tests/catch.hpp"
#include "trees/report.hpp"

namespace programs_runs_tests {

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

/// What another process says of the folder: 0 where it takes the lock, 1 where it is refused.  With `stays`, it holds
/// the lock until it is killed, and its number is given instead.
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

TEST_CASE("a folder has one run at a time, and the second is told whose it is") {
  scratch_folder const folder;
  auto const other = in_another_process(folder.path, true);
  auto const said = refusal(folder.path);
  CHECK(said.find("has a run already: process " + std::to_string(other) + " on " + host_name() + ", since 2") !=
        std::string::npos);
  CHECK(said.find("--out") != std::string::npos);
  REQUIRE(::kill(other, SIGKILL) == 0);
  ::waitpid(other, nullptr, 0);
  CHECK(folder.files() == std::set<std::string>{"run.lock"});  // of a run that was killed: the next one takes it over
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

TEST_CASE("a run whose lock file somebody removed leaves the next run's alone") {
  scratch_folder const folder;
  {
    run_lock const lock(folder.path);
    std::filesystem::remove(folder.path + "/run.lock");
    folder.write("run.lock", "the next run's");
  }
  CHECK(folder.text("run.lock") == "the next run's");
}

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
  { run_lock const lock(folder.path); }
  CHECK(folder.files() == others);
  // The number of a dead process that a living one has got: the file is older than that.
  std::filesystem::last_write_time(folder.path + "/model.safetensors" + running,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 3650));
  remove_leftovers(folder.path);
  CHECK(folder.files().count("model.safetensors" + running) == 0);
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
}

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

struct scored_run {
  double figure = 0;
  bool diverged = false, failed = false;
};

TEST_CASE("a mean is over the runs that came to an end, and says which did not and which have not learned") {
  auto const figure = [](scored_run const& r) { return r.figure; };
  double const none = std::nan("");
  std::vector<scored_run> const runs{{0.9, false, false}, {none, true, true}, {0.1, false, true}, {0.8, false, false}};
  CHECK(mean_over(runs, figure).mean == triad::mean_of(std::vector<double>{0.9, 0.1, 0.8}).mean);
  CHECK(whose_mean(runs, 5) == "mean of 3 of 4 seeds; seed 6 diverged; seed 7 did not learn and is in it");
  CHECK(first_scored(runs) == &runs[0]);
  CHECK(whose_mean(std::vector<scored_run>(3), 1) == "mean of 3 seeds");
  std::vector<scored_run> const none_left{{none, true, true}, {none, true, true}};
  CHECK(whose_mean(none_left, 1) == "mean of 0 of 2 seeds; seeds 1 and 2 diverged");
  CHECK(std::isnan(mean_over(none_left, figure).mean));
  CHECK(first_scored(none_left) == nullptr);
  std::vector<scored_run> const poor(3, {0, false, true});
  CHECK(whose_mean(poor, 1) == "mean of 3 seeds; seeds 1, 2 and 3 did not learn and are in it");
}

TEST_CASE(
    "the table of trees has a diverged run without figures, and beside the mean of all that of those that learned") {
  using namespace trees;
  auto const run = [](std::int64_t right) {
    seed_tallies r;
    for (auto const* title : {"train", "test"}) r.found.push_back({title, {.rows = 10, .whole = right}});
    r.failed = has_failed(r.found);
    return r;
  };
  seed_tallies lost{{{"train"}, {"test"}}};
  lost.diverged = lost.failed = true;
  auto const text = table_of({run(10), lost, run(2)}, 1);
  auto const line = [&](std::string const& begin) {
    auto const at = text.find("\n" + begin);
    return at == std::string::npos ? std::string() : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  CHECK(line("1 ").find("100.0") != std::string::npos);
  CHECK(line("2 ").find("0.0") == std::string::npos);
  CHECK(line("2 ").find("diverged") != std::string::npos);
  CHECK(line("mean  ").find("60.0 ±") != std::string::npos);
  CHECK(line("mean  ").find("2 of 3") != std::string::npos);
  CHECK(line("mean of those that learned").find("100.0 ±") != std::string::npos);
  CHECK(text.find("mean of 2 of 3 seeds; seed 2 diverged; seed 3 did not learn and is in it\n") != std::string::npos);
  CHECK(table_of({run(10), run(9)}, 1).find("those that learned") == std::string::npos);
}

}  // namespace programs_runs_tests
