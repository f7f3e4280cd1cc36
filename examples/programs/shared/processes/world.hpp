// The processes of a program.  There is one process, or several processes that mpirun started, which train and evaluate
// one model together.
// SPDX-License-Identifier: Apache-2.0
//
// Process 0 prints, writes files and reads standard input.  All other processes only compute.  MPI and NCCL are linked
// to two libraries next to the program.  The program loads triad-mpi.so only if mpirun has started several processes,
// and triad-nccl.so only if these processes train on GPUs.  Other runs do not need MPI and NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "triad/parallel/communicator.hpp"

namespace triad::programs {

/// A communicator (triad/parallel/communicator.hpp) whose kind is chosen at run time.
class process_group : public host_communicator<process_group> {
 public:
  virtual ~process_group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends `sent` bytes to the partner and receives `wanted` bytes from it.  The partner must make the same call with
  /// the two lengths swapped.  Throws communication_error on failure.
  virtual void exchange_bytes(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) = 0;
  virtual void barrier() = 0;
  /// Ends all processes with this exit status.
  [[noreturn]] virtual void abort(int status) = 0;

  bool is_first() const { return rank() == 0; }
};

/// Returns the processes of this program.
process_group& world();

/// Connects the processes.  Must be called before all other functions.  Throws data_error if several processes were
/// started but the program has no MPI, or if the number of processes is not a power of two.
void start_world(int* argc, char*** argv);
/// Prints an error line.  If there is only one process, returns the status.  If there are several processes, adds the
/// number of this process to the line, and ends all processes.
int fail_world(std::string const& line, int status);

/// The rank of this process among the processes on this machine, from 0; the number of processes on this machine; and
/// how many of them may run on the same processors as this process.
struct place_here {
  int rank = 0, size = 1, sharing = 1;
};
place_here here();

/// Returns the path of `file` in the folder of the running program.  The file, a library that is loaded only if needed,
/// may not exist.
std::filesystem::path beside_program(std::string const& file);

/// Returns a hint if SLURM has started several tasks that MPI does not connect, and this process is the first task.
/// Otherwise returns an empty text.
std::string hint_of_tasks();

// Each function below must be called by all processes together.

/// Returns true if any process passes true.
bool any_process(bool yes);
/// Returns the texts of all processes, by rank.
std::vector<std::string> texts_of_all(std::string const& own);
/// Throws data_error if the `text` of some process differs from that of process 0.  The message names the first such
/// process and the first line that differs.  `what` names the text, as in "the options" or "the data".
void expect_same(std::string const& what, std::string const& text);

/// Exchanges rows directly between GPUs.
class device_rows {
 public:
  virtual ~device_rows() = default;
  virtual void exchange(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) = 0;
};

/// What each process sends to the others before NCCL is used: its GPU, or the reason why it cannot use NCCL.
struct device_place {
  std::string gpu, why_not;
};
/// Returns the reason why these processes cannot use NCCL.  Rows are then copied through host memory.  Returns an empty
/// text if they can use NCCL, because each process has a GPU of its own.
std::string why_no_nccl(std::vector<device_place> const& of_all);

/// Returns an object that exchanges rows by NCCL in this stream of this device.  If some process cannot use NCCL,
/// returns null, and process 0 prints the reason once.  All processes must call this function together.
std::unique_ptr<device_rows> rows_by_nccl(int device, void* stream);

/// The communicator of a learner on one backend.  The backend must outlive the communicator.  Rows on GPUs are
/// exchanged by NCCL if possible.
template <class Ex>
class processes_on {
 public:
  /// `learns` says whether rows will be exchanged.  If so, all processes must call the constructor together.
  processes_on([[maybe_unused]] Ex& ex, [[maybe_unused]] bool learns) {
    if constexpr (!std::is_same_v<typename Ex::memory, host_memory>)
      if (learns && world().size() > 1) rows_ = rows_by_nccl(ex.device(), ex.stream());
  }

  int rank() const { return world().rank(); }
  int size() const { return world().size(); }
  template <class T>
  void exchange(Ex& ex, int partner, vec<T const> mine, vec<T> theirs) {
    if (rows_ == nullptr) return world().exchange(ex, partner, mine, theirs);
    rows_->exchange(partner, mine.data_handle(), static_cast<std::size_t>(mine.extent(0)) * sizeof(T),
                    theirs.data_handle(), static_cast<std::size_t>(theirs.extent(0)) * sizeof(T));
  }
  void barrier() { world().barrier(); }

 private:
  std::unique_ptr<device_rows> rows_;  // null: rows are copied through host memory
};

}  // namespace triad::programs
