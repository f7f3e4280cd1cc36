// A communicator for GPUs that train one model together.  There is one process for each GPU, and the processes exchange
// rows with NCCL.
// SPDX-License-Identifier: Apache-2.0
//
//   triad::cuda::backend ex(device);
//   triad::nccl processes(ex, triad::nccl_id::of_all(host), host.rank(), host.size());
//   triad::trainer<model, triad::cuda::backend, triad::nccl> learner(ex, m, {.shares = 8}, processes);
//
// `host` is a communicator of the same processes that sends host memory, such as triad::mpi.  Without such a
// communicator, the processes find each other through a file (nccl_id::by_file).  An exchange is ncclSend and ncclRecv
// in one group, in the backend's stream.  The host does not wait for an exchange.  parallel/communicator.hpp computes
// the sums, because ncclAllReduce does not guarantee an order of terms.
#pragma once

#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "triad/cuda/backend.cuh"
#include "triad/parallel/broadcast_by_file.hpp"
#include "triad/parallel/communicator.hpp"

#if NCCL_VERSION_CODE < 21300
#error "triad::nccl needs NCCL 2.13 or later, which says what its last error was"
#endif

namespace triad {

namespace detail {
/// Throws communication_error if the NCCL call failed.  doing() returns text that completes "while ...".
template <class Doing>
void expect_nccl(ncclResult_t answer, ncclComm_t by, Doing const& doing) {
  if (answer == ncclSuccess) return;
  std::string text = std::string("NCCL, while ") + doing() + ": " + ncclGetErrorString(answer);
  char const* const more = ncclGetLastError(by);
  if (more != nullptr && *more != '\0') text += std::string("; ") + more;
  throw communication_error(text + "; with NCCL_DEBUG=WARN set, NCCL says more");
}

/// The NCCL type that is used to send a value of type T.  Values are copied bit by bit.
template <class T>
inline constexpr ncclDataType_t nccl_type = std::is_same_v<T, float>    ? ncclFloat32
                                            : std::is_same_v<T, double> ? ncclFloat64
                                                                        : ncclUint8;
/// The number of elements of this NCCL type in one value of type T.
template <class T>
inline constexpr std::size_t nccl_values = nccl_type<T> == ncclUint8 ? sizeof(T) : 1;

/// A context whose memory is host memory.  nccl_id::of_all() sends the identifier in this memory.
struct memory_of_nccl_id {
  using memory = host_memory;
};
}  // namespace detail

/// The identifier of a communicator.  One process creates the identifier, and all processes need it.
struct nccl_id {
  ncclUniqueId value;

  static nccl_id make() {
    nccl_id id;
    detail::expect_nccl(ncclGetUniqueId(&id.value), nullptr, [] { return "making an id"; });
    return id;
  }
  /// Creates an identifier in process 0, and sends it to the other processes through the communicator `host`.  All
  /// processes must call this function.
  template <class Host>
  static nccl_id of_all(Host& host) {
    auto id = host.rank() == 0 ? make() : nccl_id{};
    detail::memory_of_nccl_id ex;
    broadcast(ex, host, make_vec(reinterpret_cast<unsigned char*>(id.value.internal), NCCL_UNIQUE_ID_BYTES));
    return id;
  }
  /// Creates an identifier in process 0, and sends it to the other processes through a file
  /// (parallel/broadcast_by_file.hpp).  Files of an earlier run are ignored.  `path` is the name of a file that only
  /// this run uses, such as a name that contains the job's number.  All processes must call this function.  Throws
  /// communication_error if a process does not call the function within `patience`.
  static nccl_id by_file(std::string const& path, int rank, int size,
                         std::chrono::milliseconds patience = std::chrono::minutes(2)) {
    std::string bytes(NCCL_UNIQUE_ID_BYTES, '\0');
    if (rank == 0) {
      auto const made = make();
      std::memcpy(bytes.data(), made.value.internal, bytes.size());
    }
    bytes = broadcast_by_file(path, rank, size, bytes, patience);
    if (bytes.size() != NCCL_UNIQUE_ID_BYTES)
      throw communication_error(path + " has " + std::to_string(bytes.size()) + " bytes of an id of NCCL, which has " +
                                std::to_string(NCCL_UNIQUE_ID_BYTES) + "; start all processes with one program");
    nccl_id id;
    std::memcpy(id.value.internal, bytes.data(), bytes.size());
    return id;
  }
};

/// A communicator that exchanges rows on GPUs, in the stream of one backend.  The backend must outlive the
/// communicator.  Each process needs its own GPU.  Throws communication_error if NCCL reports an error.  Throws
/// contract_violation if the number of processes is not a power of two.  If an exception destroys the communicator, the
/// destructor aborts work that waits for other processes.
class nccl {
 public:
  /// All processes must construct the communicator at the same time, with the same identifier.
  nccl(cuda::backend const& ex, nccl_id const& id, int rank, int size)
      : nccl(ex.device(), ex.stream(), id, rank, size) {}
  /// Uses any stream of a device.
  nccl(int device, cudaStream_t stream, nccl_id const& id, int rank, int size)
      : device_(device), stream_(stream), rank_(rank), size_(size), exceptions_(std::uncaught_exceptions()) {
    detail::expect_power_of_two("nccl: processes", size);
    TRIAD_EXPECTS(rank >= 0 && rank < size,
                  "nccl: rank is " + std::to_string(rank) + ", expected 0 to " + std::to_string(size - 1));
    use();
    void* signals = nullptr;
    cuda::check(cudaMalloc(&signals, 2), "allocating what a barrier sends");
    signals_ = static_cast<unsigned char*>(signals);
    try {
      cuda::check(cudaMemsetAsync(signals_, 0, 2, stream_), "clearing what a barrier sends");
      expect(ncclCommInitRank(&among_, size, id.value, rank), [&] {
        return "joining " + std::to_string(size) + " processes as process " + std::to_string(rank) + ", on GPU " +
               std::to_string(device);
      });
    } catch (...) {
      (void)cudaFree(signals_);
      throw;
    }
  }
  nccl(nccl const&) = delete;
  nccl& operator=(nccl const&) = delete;
  ~nccl() {
    (void)cudaSetDevice(device_);
    if (failed_ || std::uncaught_exceptions() > exceptions_) {
      (void)ncclCommAbort(among_);
    } else {
      (void)cudaStreamSynchronize(stream_);
      (void)ncclCommDestroy(among_);
    }
    (void)cudaFree(signals_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Exchanges rows on the GPU, as the concept communicator describes.  `ex` must be the backend that was given at
  /// construction.
  template <class T>
  void exchange(cuda::backend& ex, int partner, vec<T const> mine, vec<T> theirs) {
    TRIAD_EXPECTS(ex.stream() == stream_,
                  "nccl: rows of a backend in another stream, expected the backend that it was made with, in the "
                  "stream that it had then; call queue_in with that stream");
    exchange(partner, mine.data_handle(), static_cast<std::size_t>(mine.extent(0)), theirs.data_handle(),
             static_cast<std::size_t>(theirs.extent(0)));
  }
  /// Sends `sent` values and receives `wanted` values, on the GPU.
  template <class T>
  void exchange(int partner, T const* mine, std::size_t sent, T* theirs, std::size_t wanted) {
    TRIAD_EXPECTS(partner >= 0 && partner < size_ && partner != rank_,
                  "nccl: partner " + std::to_string(partner) + " of process " + std::to_string(rank_) +
                      ", expected another of 0 to " + std::to_string(size_ - 1));
    static_assert(std::is_trivially_copyable_v<T>, "nccl: what is sent is copied bit by bit");
    if (sent == 0 && wanted == 0) return;  // the partner returns here too
    constexpr auto type = detail::nccl_type<T>;
    constexpr auto each = detail::nccl_values<T>;
    auto const values = [&](char const* what, std::size_t count) {
      return what + std::to_string(count * sizeof(T)) + " bytes";
    };
    auto const with = [&] { return " process " + std::to_string(partner); };
    use();
    expect(ncclGroupStart(), [&] { return "beginning an exchange with" + with(); });
    std::exception_ptr wrong;  // the group must be ended even after an error
    try {
      if (sent > 0)
        expect(ncclSend(mine, sent * each, type, partner, among_, stream_),
               [&] { return values("sending ", sent) + " to" + with(); });
      if (wanted > 0)
        expect(ncclRecv(theirs, wanted * each, type, partner, among_, stream_),
               [&] { return values("receiving ", wanted) + " from" + with(); });
    } catch (...) {
      wrong = std::current_exception();
    }
    auto const ended = ncclGroupEnd();
    if (wrong) std::rethrow_exception(wrong);
    expect(ended, [&] { return values("exchanging ", sent) + " for " + values("", wanted) + " with" + with(); });
  }

  /// Returns when all processes have called barrier().  Also waits for earlier work in the stream.
  void barrier() {
    for (int d = 1; d < size_; d *= 2) exchange(rank_ ^ d, signals_, 1, signals_ + 1, 1);
    use();
    for (;;) {
      auto const status = cudaStreamQuery(stream_);
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) cuda::check(status, "waiting for all processes");
      (void)cudaGetLastError();   // clears cudaErrorNotReady, which the next launch would report
      auto result = ncclSuccess;  // only ncclCommGetAsyncError() reports that a process was lost
      expect(ncclCommGetAsyncError(among_, &result), [] { return "asking after the other processes"; });
      if (result != ncclInProgress) expect(result, [] { return "waiting for all processes"; });
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  void use() const { cuda::check(cudaSetDevice(device_), "choosing a device"); }
  template <class Doing>
  void expect(ncclResult_t answer, Doing const& doing) {
    failed_ = failed_ || answer != ncclSuccess;
    detail::expect_nccl(answer, among_, doing);
  }

  int device_;
  cudaStream_t stream_;
  int rank_, size_, exceptions_;
  ncclComm_t among_ = nullptr;
  unsigned char* signals_ = nullptr;  // one byte that a barrier sends, and one byte that it receives
  bool failed_ = false;
};

}  // namespace triad
