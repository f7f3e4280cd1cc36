// triad-busy-neighbour: times a training step with one thread and with several threads.  There are three situations: a
// quiet machine; a second process that computes without a pause and may run on any processor; and the same process on
// the last processor.  Each time is the median of nine rounds.  Steps with one thread and steps with several threads
// alternate.
//   triad-busy-neighbour [THREADS [ROUNDS [STEP]]]      STEP: a part of the names of the steps to time
// SPDX-License-Identifier: Apache-2.0

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "training_problem.hpp"
#include "training_tasks.hpp"
#include "triad/cpu/cpu.hpp"

namespace {

using bench::index_t;

/// A process that computes until this object is destroyed or the parent process ends.
class neighbour {
 public:
  /// `processor` is the processor that the process is bound to.  If it is negative, the process may run on any
  /// processor.
  explicit neighbour(int processor) : parent_(getpid()), child_(fork()) {
    if (child_ < 0) std::perror("triad-busy-neighbour: fork"), std::exit(2);
    if (child_ > 0) return;
    if (processor >= 0) {
      cpu_set_t there;
      CPU_ZERO(&there);
      CPU_SET(static_cast<std::size_t>(processor), &there);
      if (sched_setaffinity(0, sizeof there, &there) != 0)
        std::perror("triad-busy-neighbour: sched_setaffinity"), _exit(2);
    }
    for (volatile unsigned turns = 0; getppid() == parent_;)
      for (int i = 0; i < 1'000'000; ++i) turns = turns + 1;
    _exit(0);
  }
  ~neighbour() {
    if (waitpid(child_, nullptr, WNOHANG) != 0) {  // the child has already printed the reason
      std::fprintf(stderr, "triad-busy-neighbour: the neighbour ended early, so the last figures were taken without\n");
      std::exit(2);
    }
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  neighbour(neighbour const&) = delete;
  neighbour& operator=(neighbour const&) = delete;

 private:
  pid_t parent_, child_;
};

int last_processor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  int last = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &allowed)) last = i;
  return last;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + std::ssize(v) / 2, v.end());
  return v[v.size() / 2];
}

template <class Task>
void compare(char const* name, Task const& task, int threads, int rounds) {
  triad::cpu::backend one(1), several(threads);
  bench::training_problem<float, Task, triad::cpu::backend> alone(one, task), shared(several, task);
  auto const seconds = [](auto& problem, int steps) {
    auto const start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) problem.step();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps;
  };
  seconds(alone, 2), seconds(shared, 2);
  int const steps = std::max(1, static_cast<int>(0.2 / seconds(alone, 2)));
  auto const measure = [&](char const* where) {
    std::vector<double> of_one, of_several;
    for (int i = 0; i < rounds; ++i) {
      of_one.push_back(seconds(alone, steps));
      of_several.push_back(seconds(shared, steps));
    }
    double const a = median(of_one) * 1e3, b = median(of_several) * 1e3;
    std::printf("%-24s %-24s %9.3f %9.3f %7.2f\n", name, where, a, b, b / a);
    std::fflush(stdout);
  };
  measure("none");
  {
    neighbour const beside(-1);
    measure("anywhere");
  }
  {
    neighbour const beside(last_processor());
    measure("on the last processor");
  }
}

bench::graph_task graphs(index_t count, index_t nodes, index_t width, index_t layers) {
  bench::graph_task t;
  t.nodes.assign(static_cast<std::size_t>(count), nodes);
  t.sizes = {.labels = 21, .targets = 20, .layers = layers, .layer = {.width = width, .heads = 4, .hidden = 4 * width}};
  return t;
}

}  // namespace

int main(int count, char** arguments) {
  int const threads = count > 1 ? std::atoi(arguments[1]) : 2, rounds = count > 2 ? std::atoi(arguments[2]) : 9;
  std::string const wanted = count > 3 ? arguments[3] : "";
  if (threads < 2 || rounds < 1) {
    std::fprintf(stderr, "usage: triad-busy-neighbour [THREADS (2 or more) [ROUNDS [STEP]]]\n");
    return 2;
  }
  triad::cpu::blas_is_serial();
  std::printf("milliseconds a training step, medians of %d\n", rounds);
  std::printf("%-24s %-24s %9s %9s %7s\n", "step", "neighbour", "1 thread",
              (std::to_string(threads) + " threads").c_str(), "ratio");
  int steps = 0;
  auto const timed = [&](std::string const& name, auto const& task) {
    if (name.find(wanted) == std::string::npos) return;
    ++steps;
    compare(name.c_str(), task, threads, rounds);
  };
  timed("5 graphs of 5 nodes", graphs(5, 5, 64, 4));
  timed("50 graphs of 5 nodes", graphs(50, 5, 64, 4));
  timed("2 graphs of 32 nodes", graphs(2, 32, 64, 2));
  timed("COGS, 100 sentences", bench::cogs());
  if (steps == 0) {
    std::fprintf(stderr, "triad-busy-neighbour: no step's name has \"%s\" in it\n", wanted.c_str());
    return 2;
  }
}
