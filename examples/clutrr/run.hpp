// One training run, and accuracy by chain length.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../common/training_run.hpp"
#include "network.hpp"
#include "task.hpp"

namespace clutrr {

/// Right answers of a set of graphs, in parts of 1.
double accuracy(network& net, std::vector<kinship_graph> const& graphs);

/// A run counts as failed, too, where the model did not learn its own training task.
struct run_result : triad::examples::run_log {
  std::map<int, double> test;  // accuracy by k, of the last epoch's weights; none of a run that diverged
};

/// Trains one model with o.seed in folder `out` (nothing is written where it is empty).
run_result train_once(options const& o, task& work, std::string const& out);

/// Sizes of the network for training on a task.
network_options sizes_of(options const& o, task const& work);

}  // namespace clutrr
