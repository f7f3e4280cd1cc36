// The models on a GPU.  Compiled by nvcc; in tests also by a host compiler, with a stand-in for the GPU.
// SPDX-License-Identifier: Apache-2.0
#include "../first_device.cuh"
#include "translator_on.hpp"
#include "triad/cuda.cuh"

std::unique_ptr<seq2seq::translator> seq2seq::make_on_cuda(options const& o, translator_options const& z) {
  return translator_with(triad::examples::first_device(o.arithmetic), o, z);
}
