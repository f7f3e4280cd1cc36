// The processes that a program was started as: one, or those of mpirun, which train and evaluate one model together.
// SPDX-License-Identifier: Apache-2.0
//
// Process 0 prints, writes and reads standard input; the others compute.  MPI is in a library beside the program,
// triad-mpi.so, which is loaded where mpirun has started several, so nobody else needs MPI or waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "triad/train/communicator.hpp"

namespace triad::apps {

/// A communicator (triad/train/communicator.hpp) that programs choose when they run.
class process_group : public host_communicator<process_group> {
 public:
  virtual ~process_group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends `sent` bytes and receives `wanted`; the partner calls it with the lengths changed over.  A
  /// communication_error where that fails.
  virtual void exchange_bytes(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) = 0;
  virtual void barrier() = 0;
  /// Ends every process with this status.
  [[noreturn]] virtual void abort(int status) = 0;

  bool is_first() const { return rank() == 0; }
};

/// All processes of this program.
process_group& world();

/// Before anything else.  Throws data_error where several were started and this program has no MPI, or their number is
/// no power of two.
void start_world(int* argc, char*** argv);
/// What is said where a process fails, and the end of all of them where there are several: a line, with the process's
/// number then.  Gives back the status where there is one process alone.
int fail_world(std::string const& line, int status);

/// Which of the processes on this machine this one is, from 0, how many they are, and how many of them may run on the
/// same processors as this one.
struct place_here {
  int rank = 0, size = 1, sharing = 1;
};
place_here here();

// What follows is called by all processes at once.

/// Whether any of them says yes.
bool any_process(bool yes);
/// The text of every process, by rank.
std::vector<std::string> texts_of_all(std::string const& own);
/// A data_error that names the first process whose `text` is not that of process 0, with the first line that differs;
/// what: "the options", "the data".
void expect_same(std::string const& what, std::string const& text);

}  // namespace triad::apps
