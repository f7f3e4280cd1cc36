// The cpu backend: BLAS computes matrix products, and a pool of threads runs tasks.  Operations that would not become
// faster are computed by the reference backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"
#include "triad/cpu/kernels/pool.hpp"
#include "triad/cpu/products/engine.hpp"
#include "triad/reference/backend.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Returns the default number of threads: OMP_NUM_THREADS if this variable is set, else the number of processors that
/// this process may use.  Results have the same bits with any number of threads.
inline int hardware_threads();

/// A function of the calling program that runs work on the threads of this program.  Such a function is for programs
/// whose threads would compete with the threads of the pool.  The function must call work(context, worker) for each
/// `worker` in [0, workers), on any threads, and must return when all these calls have returned.
using borrowed_threads = void (*)(int workers, void (*work)(void* context, int worker), void* context);

struct backend : reference::backend {
  static constexpr char const *name = "cpu", *number_means = "THREADS";  // with_backend uses these names
  static constexpr int most_threads = 1 + detail::pool::most_helpers;

  /// Uses `thread_count` threads, or hardware_threads() threads if `thread_count` is 0.  The linked BLAS computes the
  /// products of float matrices.  If `products_by` is not null, this engine computes them, with factors of precision
  /// `of_factors`.  Throws contract_violation if `thread_count` is negative or above most_threads, or if the engine
  /// does not compute with such factors on this processor.
  explicit backend(int thread_count = 0, product_engine const* products_by = nullptr,
                   cpu::arithmetic of_factors = cpu::arithmetic::float32)
      : threads(thread_count > 0 ? thread_count : hardware_threads()), engine(products_by), arithmetic(of_factors) {
    TRIAD_EXPECTS(thread_count >= 0 && thread_count <= most_threads,
                  "cpu::backend: threads are " + std::to_string(thread_count) + ", expected 1 to " +
                      std::to_string(most_threads) + ", or 0 for one each processor");
    TRIAD_EXPECTS(arithmetic == cpu::arithmetic::float32 || (engine != nullptr && engine->computes(arithmetic)),
                  "cpu::backend: factors are bf16, but " +
                      (engine == nullptr ? std::string("BLAS computes float32 alone; give an engine, such as "
                                                       "onednn_engine::instance()")
                                         : engine->name() + " does not compute bf16 on this processor; take float32"));
  }
  /// The smallest extent of the products whose factors are rounded.  Layers keep such factors in bfloat16.
  index_t rounds_from() const { return arithmetic == cpu::arithmetic::bf16 ? least_rounded : 0; }

  int threads;
  product_engine const* engine;         // null: the linked BLAS
  cpu::arithmetic arithmetic;           // the precision of the factors of float products
  index_t least_rounded = 32;           // a smaller product is computed in float32: rounding would take longer than it
  borrowed_threads borrowed = nullptr;  // null: the threads of cpu/kernels/pool.hpp run the tasks
};

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS

#include "triad/cpu/kernels/parallel.hpp"
