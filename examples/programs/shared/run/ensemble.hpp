// Combines the answers of several runs for one task.  Checks that the runs can be combined, and averages their
// log-probabilities.
// SPDX-License-Identifier: Apache-2.0
//
//   log p(c) = mean over runs of (logit(c) - log sum over c' of exp logit(c'))     answer: the c with the largest p(c)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"
#include "triad/io/checkpoint.hpp"

namespace triad::programs {

/// Throws data_error if a run is named twice.  A run may be named by its folder or its checkpoint, and by different
/// paths.
void expect_different_runs(std::string const& first, std::vector<std::string> const& more);

/// Throws a data_error that names `run` if the run cannot be combined with o.run, whose checkpoint is `first`.  Both
/// runs must belong to the same program and have the same vocabulary.  If the questions are the data of o.run, both
/// runs must have been trained on the same data.
void expect_together(run_options const& o, checkpoint const& first, std::string const& run, checkpoint const& file);

/// The sums of log-probabilities over all runs, for many rows.
class log_probability_sums {
 public:
  explicit log_probability_sums(std::size_t classes) : classes_(classes) {}

  /// Adds the log-probabilities of one run.  `logits` (rows, classes) are those of rows first, first + 1, ...
  void add(std::size_t first, std::vector<float> const& logits);
  /// Returns the class with the largest sum.  If several classes have the largest sum, returns the first.
  std::size_t best(std::size_t row) const;

 private:
  std::size_t classes_;
  std::vector<double> sums_;
};

}  // namespace triad::programs
