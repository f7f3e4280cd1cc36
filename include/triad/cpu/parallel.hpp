// The one place that knows OpenMP: tasks in a loop, each run once by some thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <exception>

#include "triad/core/mdspan.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/denormals.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace triad::cpu {

inline int hardware_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();  // all of them, unless OMP_NUM_THREADS or affinity says otherwise
#else
  return 1;
#endif
}

/// f(task, thread) for every task in [0, tasks), thread < ex.threads.  Tasks may not depend on each other, and what one
/// computes may not depend on its thread.  Denormal numbers are zero in all of them.  Without OpenMP, one after the other.
template <class F>
void parallel_for([[maybe_unused]] backend& ex, index_t tasks, F&& f) {
#if defined(_OPENMP)
  if (tasks > 1 && ex.threads > 1) {
    std::exception_ptr failure;
#pragma omp parallel num_threads(ex.threads)
    {
      without_denormals const here;
#pragma omp for schedule(dynamic) nowait
      for (index_t task = 0; task < tasks; ++task) {
        try {
          f(task, omp_get_thread_num());
        } catch (...) {
#pragma omp critical(triad_parallel_failure)
          if (!failure) failure = std::current_exception();
        }
      }
    }
    if (failure) std::rethrow_exception(failure);
    return;
  }
#endif
  without_denormals const here;
  for (index_t task = 0; task < tasks; ++task) f(task, 0);
}

/// Rows in equal parts of `block`: f(first, count, thread).
template <class F>
void parallel_rows(backend& ex, index_t rows, index_t block, F&& f) {
  parallel_for(ex, (rows + block - 1) / block, [&](index_t task, int thread) {
    index_t const first = task * block;
    f(first, std::min(block, rows - first), thread);
  });
}

}  // namespace triad::cpu
