// Answers of several runs for one task: checks that the runs can be combined, and averages their log-probabilities.
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

/// Throws data_error if a run is named twice: by its folder, by its checkpoint, or by another path to one of these.
void expect_different_runs(std::string const& first, std::vector<std::string> const& more);

/// Throws data_error that names `run` if it cannot be combined with o.run, whose checkpoint is `first`.  This is so if
/// `run` belongs to another program or has another vocabulary.  If the questions are the data of o.run, `run` must also
/// have been trained on these data.
void expect_together(run_options const& o, checkpoint const& first, std::string const& run, checkpoint const& file);

/// For each of many rows, the sums of the log-probabilities over all runs.
class log_probability_sums {
 public:
  explicit log_probability_sums(std::size_t classes) : classes_(classes) {}

  /// Adds the log-probabilities of one run; logits (rows, classes) belong to rows first, first + 1, ...
  void add(std::size_t first, std::vector<float> const& logits);
  /// Returns the class with the largest sum; if several sums are equal, the first of these classes.
  std::size_t best(std::size_t row) const;

 private:
  std::size_t classes_;
  std::vector<double> sums_;
};

}  // namespace triad::programs
