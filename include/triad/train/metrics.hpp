// The fraction of correct answers, and the mean of several runs with its standard error.
// SPDX-License-Identifier: Apache-2.0
//
//   mean = sum x / n,   standard error = sqrt(sum (x - mean)^2 / (n - 1)) / sqrt(n)
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// The number of correct answers and the number of all answers, summed over batches.
struct accuracy {
  std::uint64_t correct = 0, total = 0;

  /// Adds the rows of a batch.  Rows with a negative target do not count.  Both views must be in host memory.
  void add(vec<index_t const> predicted, vec<index_t const> target) {
    expect_shape("accuracy", "predicted", predicted, {target.extent(0)});
    for (index_t r = 0; r < target.extent(0); ++r) {
      if (target(r) < 0) continue;
      ++total;
      if (predicted(r) == target(r)) ++correct;
    }
  }
  /// Returns a value in [0, 1], or NaN if no row was counted.
  double fraction() const {
    return total > 0 ? static_cast<double>(correct) / static_cast<double>(total)
                     : std::numeric_limits<double>::quiet_NaN();
  }
};

struct mean_and_error {
  double mean = 0, standard_error = 0;  // the error is 0 for a single run
};

/// Returns the mean of the values `runs`, and the standard error of the mean.  Both are NaN if there are no values.
inline mean_and_error mean_of(std::span<double const> runs) {
  auto const n = static_cast<double>(runs.size());
  if (runs.empty()) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  mean_and_error m;
  for (double v : runs) m.mean += v / n;
  double squares = 0;
  for (double v : runs) squares += (v - m.mean) * (v - m.mean);
  if (runs.size() > 1) m.standard_error = std::sqrt(squares / (n - 1) / n);
  return m;
}

}  // namespace triad
