// One training run: updates, an evaluation and a checkpoint after every epoch, and its folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "network.hpp"
#include "task.hpp"

namespace clutrr {

/// Right answers of a set of graphs, in parts of 1.
double accuracy(network& net, std::vector<kinship_graph> const& graphs);

struct run_result {
  std::map<int, double> test;   // accuracy by k, of the last epoch's weights
  double validation = 0;
  std::vector<double> losses;   // mean of every epoch
  double seconds = 0;
  bool interrupted = false;
  bool failed = false;          // the loss was no longer finite, or the model did not learn its own training task
};

/// Trains one model with o.seed in folder `out` (nothing is written where it is empty).
run_result train_once(options const& o, task& work, std::string const& out);

/// Sizes of the network for training on a task.
network_sizes sizes_of(options const& o, task const& work);

}  // namespace clutrr
