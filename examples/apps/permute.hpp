// Random orders of examples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "triad/core/random.hpp"

namespace triad::apps {

/// order becomes one of 0 .. order.size() - 1, the same for a seed and stream on every machine.
inline void permute(std::vector<std::size_t>& order, std::uint64_t seed, std::uint64_t stream) {
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_stream(seed, stream).shuffle(order);
}

}  // namespace triad::apps
