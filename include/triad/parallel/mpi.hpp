// A communicator for processes that MPI has started: mpirun -n 4 PROGRAM.
// SPDX-License-Identifier: Apache-2.0
//
//   triad::mpi_session const session(&argc, &argv);
//   triad::mpi processes;
//   triad::trainer<model, triad::cpu::backend, triad::mpi> learner(ex, m, {.shares = 8}, processes);
#pragma once

// Leaves out MPI's C++ bindings.  The MPI standard has removed these bindings, and their headers are slow to compile.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "triad/parallel/communicator.hpp"

namespace triad {

namespace detail {
/// Throws communication_error if the MPI call failed.  `doing` describes the call, for the message.
inline void expect_mpi(int answer, char const* doing) {
  if (answer == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(answer, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw communication_error(
      std::string("mpi: ") + doing + ": " +
      (length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "error " + std::to_string(answer)));
}
}  // namespace detail

/// Starts MPI in the constructor, and ends MPI in the destructor.  A program must have only one session.  If an
/// exception leaves the session's scope, all other processes are ended, because they would wait forever.  So report
/// errors inside this scope.
class mpi_session {
 public:
  /// Removes mpirun's arguments from the command line.
  explicit mpi_session(int* argc = nullptr, char*** argv = nullptr) : exceptions_(std::uncaught_exceptions()) {
    int given = MPI_THREAD_SINGLE;
    detail::expect_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given), "starting");
    // Only one thread calls MPI, but the backend may run more threads.
    if (given < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw communication_error("mpi: this MPI can be used by programs of one thread alone; use another");
    }
  }
  mpi_session(mpi_session const&) = delete;
  mpi_session& operator=(mpi_session const&) = delete;
  ~mpi_session() {
    if (std::uncaught_exceptions() > exceptions_)
      MPI_Abort(MPI_COMM_WORLD, 1);
    else
      MPI_Finalize();
  }

 private:
  int exceptions_;
};

/// The processes of an MPI communicator.  The constructor duplicates this communicator.  Rows on a device are copied
/// through host memory.  Throws communication_error if MPI reports an error.
class mpi : public host_communicator<mpi> {
 public:
  explicit mpi(MPI_Comm among = MPI_COMM_WORLD) {
    detail::expect_mpi(MPI_Comm_dup(among, &among_), "making a communicator");
    detail::expect_mpi(MPI_Comm_set_errhandler(among_, MPI_ERRORS_RETURN), "choosing how errors are reported");
    detail::expect_mpi(MPI_Comm_rank(among_, &rank_), "asking for the rank");
    detail::expect_mpi(MPI_Comm_size(among_, &size_), "asking for the number of processes");
  }
  mpi(mpi const&) = delete;
  mpi& operator=(mpi const&) = delete;
  ~mpi() { MPI_Comm_free(&among_); }

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Ends all processes with this exit status.
  [[noreturn]] void abort(int status) {
    MPI_Abort(among_, status);
    std::abort();
  }
  void barrier() { detail::expect_mpi(MPI_Barrier(among_), "waiting for all processes"); }

  void exchange_bytes(int partner, void const* mine, std::size_t sent, void* theirs, std::size_t wanted) {
    under_way_.clear();
    each_piece(wanted, [&](std::size_t first, int count, int tag) {
      detail::expect_mpi(MPI_Irecv(static_cast<std::byte*>(theirs) + first, count, MPI_BYTE, partner, tag, among_,
                                   &under_way_.emplace_back()),
                         "receiving");
    });
    each_piece(sent, [&](std::size_t first, int count, int tag) {
      detail::expect_mpi(MPI_Isend(static_cast<std::byte const*>(mine) + first, count, MPI_BYTE, partner, tag, among_,
                                   &under_way_.emplace_back()),
                         "sending");
    });
    ended_.resize(under_way_.size());
    detail::expect_mpi(MPI_Waitall(static_cast<int>(under_way_.size()), under_way_.data(), ended_.data()),
                       "exchanging rows");
    std::size_t number = 0;  // receptions are started first
    each_piece(wanted, [&](std::size_t, int count, int) {
      int got = 0;
      detail::expect_mpi(MPI_Get_count(&ended_[number++], MPI_BYTE, &got), "asking how much has come");
      if (got != count)
        throw communication_error("mpi: process " + std::to_string(partner) + " has sent " + std::to_string(got) +
                                  " bytes where " + std::to_string(count) + " were expected");
    });
  }

 private:
  /// Calls f for each piece of a message, because an MPI message has at most 2^31 - 1 bytes.
  template <class F>
  static void each_piece(std::size_t bytes, F const& f) {
    constexpr std::size_t most = std::size_t{1} << 30;
    int tag = 0;
    for (std::size_t first = 0; first < bytes; first += most)
      f(first, static_cast<int>(std::min(most, bytes - first)), tag++);
  }

  MPI_Comm among_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> under_way_;
  std::vector<MPI_Status> ended_;
};

}  // namespace triad
