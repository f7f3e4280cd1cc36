// The options of a trainer, the sizes of its memory, and the record of an update.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "triad/core/graphs.hpp"
#include "triad/core/random.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/adam.hpp"

namespace triad {

/// The options of a trainer.  `Dims` is the type of the sizes from which the memory of a batch is planned.
template <class Dims>
struct basic_trainer_options {
  adam_options adam{};
  double max_norm = 0;  // gradients are clipped to this norm; 0: they are not clipped
  philox_key key = 0;   // the seed of dropout
  keep memory = keep::everything;
  Dims capacity{};     // the sizes of the largest batch
  index_t shares = 1;  // the number of shares of a batch; a power of two, at least the number of processes
};
using trainer_options = basic_trainer_options<graph_dims>;

/// The record of one update: the loss of its batch, and the norm of its gradient before clipping.
struct update_record {
  std::uint64_t step;
  double loss, norm;
};

/// The memory of a trainer in bytes.  The sizes are known before the memory is allocated.
struct trainer_bytes {
  std::size_t parameters, saved, scratch;
  std::size_t shares = 0;  // for the sums of gradients over shares and processes
  std::size_t total() const { return parameters + saved + scratch + shares; }
};

}  // namespace triad
