// In place of on_cuda.cu, where programs are not compiled for GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"
#include "triad/core/errors.hpp"

std::unique_ptr<clutrr::network> clutrr::make_on_cuda(options const&, network_sizes const&) {
  throw triad::data_error("this clutrr was built without CUDA: with a CUDA toolkit, cmake --preset cuda && "
                          "cmake --build --preset cuda --target clutrr  makes build/cuda/bin/clutrr, which has --backend cuda");
}
