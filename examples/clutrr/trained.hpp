// A trained model out of a run's folder, ready to answer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "network.hpp"

namespace clutrr {

struct trained {
  vocabulary words;
  options model;  // what shapes it, and how it runs
  std::unique_ptr<network> net;
};

/// Reads folder/model.safetensors (or a file itself) with room for graphs of up to max_nodes people.
/// `keeps`: keeps what explain() inspects.  Throws data_error.
trained load_trained(std::string const& folder, options o, int max_nodes, bool keeps = false);

}  // namespace clutrr
