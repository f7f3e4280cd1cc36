// Computes the key of a recorded step from one batch, or from its answers, alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/batch_views.hpp"

namespace triad::test {

template <class Batch>
std::uint64_t replay_number(Batch const& batch) {
  replay_key key;
  add_to_key(key, batch);
  return key.value();
}

}  // namespace triad::test
