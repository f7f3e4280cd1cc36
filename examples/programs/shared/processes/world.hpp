// The processes that a program was started as: one, or those of mpirun, which train and evaluate one model together.
// SPDX-License-Identifier: Apache-2.0
//
// Process 0 prints, writes and reads standard input; the others compute.  MPI and NCCL are in libraries next to the
// program: triad-mpi.so is loaded where mpirun has started several processes, triad-nccl.so where they train on GPUs.
// So other programs neither need them nor load them.
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

/// A communicator (triad/parallel/communicator.hpp) that programs choose when they run.
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

/// The path of a library that is loaded only where it is needed, `file` in the folder of the running program; whether
/// it is there is not asked.
std::filesystem::path beside_program(std::string const& file);

/// A line where SLURM has started several tasks that are not to know each other, in the first of them; else nothing.
std::string hint_of_tasks();

// What follows is called by all processes at once.

/// Whether any process passes true.
bool any_process(bool yes);
/// The text of every process, by rank.
std::vector<std::string> texts_of_all(std::string const& own);
/// A data_error that names the first process whose `text` is not that of process 0, with the first line that differs;
/// what: "the options", "the data".
void expect_same(std::string const& what, std::string const& text);

/// Rows that go from GPU to GPU.
class device_rows {
 public:
  virtual ~device_rows() = default;
  virtual void exchange(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) = 0;
};

/// What a process says of itself before rows go by NCCL: which GPU it has, or why it cannot.
struct device_place {
  std::string gpu, why_not;
};
/// Why rows of these processes go through the hosts; empty: they go by NCCL, since each has a GPU of its own.
std::string why_no_nccl(std::vector<device_place> const& of_all);

/// By NCCL, in this stream of this device, where that is possible for all processes.  Otherwise null, and process 0 has
/// said why, once.  All processes of the world call it at once.
std::unique_ptr<device_rows> rows_by_nccl(int device, void* stream);

/// The world as a communicator of a learner on one backend, which outlives it: rows on a GPU go by NCCL where that is
/// possible.
template <class Ex>
class processes_on {
 public:
  /// learns: rows will be exchanged.  All processes make it at once where it is so.
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
  std::unique_ptr<device_rows> rows_;  // null: through the host's memory
};

}  // namespace triad::programs
