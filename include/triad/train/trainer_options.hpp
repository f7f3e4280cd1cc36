// What a trainer is made with, what it will hold, and what an update of it found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "triad/core/graphs.hpp"
#include "triad/core/random.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/adam.hpp"

namespace triad {

/// Dims: what the memory of a batch is planned with.
template <class Dims>
struct basic_trainer_options {
  adam_options adam{};
  double max_norm = 0;  // gradients are clipped to this norm; 0: never
  philox_key key = 0;   // of dropout
  keep memory = keep::everything;
  Dims capacity{};     // the largest batch
  index_t shares = 1;  // of a batch, a power of two: no fewer than processes
};
using trainer_options = basic_trainer_options<graph_dims>;

/// What one update found: the loss of its batch, and its gradient's norm before it was clipped.
struct update_record {
  std::uint64_t step;
  double loss, norm;
};

/// What a trainer will hold, in bytes, known before anything is allocated.
struct trainer_bytes {
  std::size_t parameters, saved, scratch;
  std::size_t shares = 0;  // sums of gradients over shares and processes
  std::size_t total() const { return parameters + saved + scratch + shares; }
};

}  // namespace triad
