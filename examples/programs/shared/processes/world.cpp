// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>
#include <thread>

#include "processes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/digest.hpp"

namespace triad::programs {
namespace {

class one_process final : public process_group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange_bytes(int, void const*, std::size_t, void*, std::size_t) override {
    throw communication_error("exchange() of one process, expected more processes");
  }
  void barrier() override {}
  [[noreturn]] void abort(int status) override { std::_Exit(status); }
};

std::unique_ptr<process_group>& held() {
  static std::unique_ptr<process_group> those = std::make_unique<one_process>();
  return those;
}

/// Returns the number in an environment variable.  Returns 0 if the variable is not set.
int number_of(char const* variable) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

/// Returns the number of processes that a launcher has started.  SLURM sets SLURM_STEP_NUM_TASKS for every step, even
/// if the processes are not connected.  Connected processes also have a rank from PMI.
int processes_started() {
  for (auto const* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"})
    if (int const n = number_of(variable); n > 0) return n;
  bool const by_slurm = std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
  return by_slurm ? number_of("SLURM_STEP_NUM_TASKS") : 1;
}

constexpr char const* library_of_mpi = "triad-mpi.so";

/// Loads MPI and returns its processes.  The library stays loaded until the program ends.
std::unique_ptr<process_group> by_mpi(int* argc, char*** argv) {
  std::error_code none;
  auto const library = beside_program(library_of_mpi);
  if (!std::filesystem::exists(library, none)) {
    // If the library is missing, it is missing for all processes.  The first process reports this and ends the others.
    if (number_of("OMPI_COMM_WORLD_RANK") + number_of("PMI_RANK") > 0)
      std::this_thread::sleep_for(std::chrono::seconds(1));
    refuse(
        "several processes were started, and there is no {}: a program that was built where there is MPI (Debian: "
        "libopenmpi-dev) has it next to it; copy both, build it again, or start one process",
        library.string());
  }
  // MPI later loads more libraries.  They look up MPI's symbols among the global symbols of the program.
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  auto const make =
      opened == nullptr
          ? nullptr
          : reinterpret_cast<process_group* (*)(int*, char***)>(::dlsym(opened, "triad_processes_of_mpi"));
  if (make == nullptr) refuse("{} cannot be loaded: {}", library.string(), ::dlerror());
  return std::unique_ptr<process_group>(make(argc, argv));
}

/// Returns the processors on which this process may run, as a text of zeros and ones.
std::string processors_of_this() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::string text;
  for (int p = 0; p < CPU_SETSIZE; ++p) text += CPU_ISSET(p, &set) ? '1' : '0';
  return text;
}

place_here here_;

}  // namespace

process_group& world() { return *held(); }

void start_world(int* argc, char*** argv) {
  if (processes_started() <= 1) return;
  held() = by_mpi(argc, argv);
  auto const& w = world();
  if (w.size() != processes_started())
    refuse("{} processes were started, and MPI knows {}: the mpirun is of another MPI than {}", processes_started(),
           w.size(), beside_program(library_of_mpi).string());
  if (w.size() & (w.size() - 1))
    refuse("{} processes were started, expected a power of two: 1, 2, 4, 8, ...", w.size());
  if (!w.is_first() && std::freopen("/dev/null", "w", stdout) == nullptr) refuse("/dev/null cannot be opened");
  expect_same("the program", digest_of("/proc/self/exe"));
  auto const hosts = texts_of_all(host_name());
  here_ = {0, 0, 0};
  auto const bound = texts_of_all(processors_of_this());
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    if (hosts[r] != host_name()) continue;
    if (static_cast<int>(r) < w.rank()) ++here_.rank;
    ++here_.size;
    if (bound[r] == processors_of_this()) ++here_.sharing;
  }
}

int fail_world(std::string const& line, int status) {
  auto& w = world();
  if (w.size() == 1) {
    std::fputs((line + (line.ends_with('\n') ? "" : "\n")).c_str(), stderr);
    return status;
  }
  // An error in the command line or the data occurs in all processes.  The other processes wait, so that only the first
  // process reports the error.
  if (!w.is_first()) std::this_thread::sleep_for(std::chrono::milliseconds(1000 + std::min(100 * w.rank(), 1000)));
  std::fflush(stdout);
  auto text = line;
  while (text.ends_with('\n')) text.pop_back();
  fmt::print(stderr, "{} (process {} of {}, on {})\n", text, w.rank(), w.size(), host_name());
  std::fflush(stderr);
  w.abort(status);
  return status;
}

std::string hint_of_tasks() {
  int const tasks = number_of("SLURM_STEP_NUM_TASKS");
  if (processes_started() > 1 || tasks <= 1 || number_of("SLURM_PROCID") > 0) return {};
  return fmt::format(
      "srun has started {} tasks without MPI, so they do not know each other and each does all of the work: give srun "
      "--mpi=pmix, so that they share it, or -n 1\n",
      tasks);
}

place_here here() { return here_; }

std::filesystem::path beside_program(std::string const& file) {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / file;
}

bool any_process(bool yes) {
  auto& w = world();
  unsigned char mine = yes ? 1 : 0, theirs = 0;
  for (int d = 1; d < w.size(); d *= 2) {
    w.exchange_bytes(w.rank() ^ d, &mine, 1, &theirs, 1);
    mine = mine | theirs;
  }
  return mine != 0;
}

std::vector<std::string> texts_of_all(std::string const& own) {
  auto& w = world();
  std::vector<std::string> all{own};  // the texts that are known so far, of neighbouring ranks
  for (int d = 1; d < w.size(); d *= 2) {
    std::vector<std::uint64_t> lengths, other(all.size());
    std::string mine;
    for (auto const& text : all) {
      lengths.push_back(text.size());
      mine += text;
    }
    auto const bytes = lengths.size() * sizeof(std::uint64_t);
    w.exchange_bytes(w.rank() ^ d, lengths.data(), bytes, other.data(), bytes);
    std::size_t sum = 0;
    for (auto const n : other) sum += n;
    std::string theirs(sum, '\0');
    w.exchange_bytes(w.rank() ^ d, mine.data(), mine.size(), theirs.data(), theirs.size());
    std::vector<std::string> texts;
    std::size_t at = 0;
    for (auto const n : other) {
      texts.push_back(theirs.substr(at, n));
      at += n;
    }
    all.insert((w.rank() & d) != 0 ? all.begin() : all.end(), texts.begin(), texts.end());
  }
  return all;
}

void expect_same(std::string const& what, std::string const& text) {
  if (world().size() == 1) return;
  auto const all = texts_of_all(text);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    std::istringstream first(all[0]), other(all[r]);
    std::string a, b;
    while (a == b && first && other) {
      if (!std::getline(first, a)) a = "nothing";
      if (!std::getline(other, b)) b = "nothing";
    }
    refuse(
        "process {} differs from process 0 in {}: {} instead of {}; start all with the same command, on machines that "
        "see the same files",
        r, what, b, a);
  }
}

}  // namespace triad::programs
