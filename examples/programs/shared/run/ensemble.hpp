// Predicts with several runs of one task: checks that the runs fit together, and averages their log-probabilities.
// SPDX-License-Identifier: Apache-2.0
//
//   log p(c) = mean over runs of (logit(c) - log sum over c' of exp logit(c'))        the answer: the largest
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"
#include "triad/io/checkpoint.hpp"

namespace triad::programs {

/// Throws data_error where one of these runs is named twice, by its folder, its checkpoint or another way to it.
void expect_different_runs(std::string const& first, std::vector<std::string> const& more);

/// Throws data_error that names `run` where it cannot answer together with o.run, whose checkpoint is `first`: it is
/// another program's, knows other words, or was trained on other data than those that are asked, which are o.run's.
void expect_together(run_options const& o, checkpoint const& first, std::string const& run, checkpoint const& file);

/// Sums of log-probabilities of many rows, to which every run adds its own.
class log_probability_sums {
 public:
  explicit log_probability_sums(std::size_t classes) : classes_(classes) {}

  /// logits (rows, classes) of rows first, first + 1, ...
  void add(std::size_t first, std::vector<float> const& logits);
  /// The first class whose sum is largest.
  std::size_t best(std::size_t row) const;

 private:
  std::size_t classes_;
  std::vector<double> sums_;
};

}  // namespace triad::programs
