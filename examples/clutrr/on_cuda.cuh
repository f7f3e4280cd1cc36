// The seam between the two units that nvcc compiles side by side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../common/first_device.cuh"
#include "network.hpp"

namespace clutrr {

std::unique_ptr<network> make_relation_model_on_cuda(options const& o, network_options const& z);

}  // namespace clutrr
