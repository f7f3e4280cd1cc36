// The host's processors: BLAS for products, one pool of threads, and the reference for whatever is not faster here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"
#include "triad/cpu/kernels/pool.hpp"
#include "triad/reference/backend.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// How many threads there are to use.  Results do not depend on it, bit by bit.
inline int hardware_threads();

/// Threads of the calling program, where its own would compete with ours: calls
/// work(context, worker) for each worker in [0, workers), on whichever threads it likes, and returns when all have.
using borrowed_threads = void (*)(int workers, void (*work)(void* context, int worker), void* context);

struct backend : reference::backend {
  static constexpr char const *name = "cpu", *number_means = "THREADS";  // what with_backend calls it
  static constexpr int most_threads = 1 + detail::pool::most_helpers;

  /// 0: one for each processor.  Throws contract_violation where there are fewer than none, or more than can be
  /// counted.
  explicit backend(int thread_count = 0) : threads(thread_count > 0 ? thread_count : hardware_threads()) {
    TRIAD_EXPECTS(thread_count >= 0 && thread_count <= most_threads,
                  "cpu::backend: threads are " + std::to_string(thread_count) + ", expected 1 to " +
                      std::to_string(most_threads) + ", or 0 for one each processor");
  }
  int threads;
  borrowed_threads borrowed = nullptr;  // null: the process's own (cpu/kernels/pool.hpp)
};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS

#include "triad/cpu/kernels/parallel.hpp"
