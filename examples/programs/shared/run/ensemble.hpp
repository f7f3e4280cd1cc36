// Predicts with several runs of one task: checks that the runs fit together, and averages their log-probabilities.
// SPDX-License-Identifier: Apache-2.0
//
//   log p(c) = mean over runs of (logit(c) - log sum over c' of exp logit(c'))        the answer is the largest
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"
#include "triad/io/checkpoint.hpp"

namespace triad::programs {

/// Throws data_error if a run is named twice: by its folder, by its checkpoint or by another path to them.
void expect_different_runs(std::string const& first, std::vector<std::string> const& more);

/// Throws data_error that names `run` if it cannot answer together with o.run, whose checkpoint is `first`.  This is so
/// if `run` belongs to another program or has another vocabulary.  If the questions are the data of o.run, `run` must
/// also be trained on these data.
void expect_together(run_options const& o, checkpoint const& first, std::string const& run, checkpoint const& file);

/// The sums over runs of the log-probabilities of many rows.
class log_probability_sums {
 public:
  explicit log_probability_sums(std::size_t classes) : classes_(classes) {}

  /// Adds the log-probabilities of one run; logits (rows, classes) belong to rows first, first + 1, ...
  void add(std::size_t first, std::vector<float> const& logits);
  /// Returns the class with the largest sum; of equal sums, the first.
  std::size_t best(std::size_t row) const;

 private:
  std::size_t classes_;
  std::vector<double> sums_;
};

}  // namespace triad::programs
