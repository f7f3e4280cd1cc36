// The cpu backend: BLAS for products, one pool of threads, and the reference for operations that are not faster here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"
#include "triad/cpu/kernels/pool.hpp"
#include "triad/reference/backend.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// The default number of threads.  The number of threads does not change a single bit of any result.
inline int hardware_threads();

/// A function that runs work on the calling program's threads, for programs whose threads would compete with the pool's
/// threads.  Calls work(context, worker) for each worker in [0, workers), on any threads, and returns when all calls
/// have returned.
using borrowed_threads = void (*)(int workers, void (*work)(void* context, int worker), void* context);

struct backend : reference::backend {
  static constexpr char const *name = "cpu", *number_means = "THREADS";  // names that with_backend uses
  static constexpr int most_threads = 1 + detail::pool::most_helpers;

  /// A thread_count of 0 stands for hardware_threads().  Throws contract_violation if thread_count is negative or above
  /// most_threads.
  explicit backend(int thread_count = 0) : threads(thread_count > 0 ? thread_count : hardware_threads()) {
    TRIAD_EXPECTS(thread_count >= 0 && thread_count <= most_threads,
                  "cpu::backend: threads are " + std::to_string(thread_count) + ", expected 1 to " +
                      std::to_string(most_threads) + ", or 0 for one each processor");
  }
  int threads;
  borrowed_threads borrowed = nullptr;  // null: use the threads of cpu/kernels/pool.hpp
};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS

#include "triad/cpu/kernels/parallel.hpp"
