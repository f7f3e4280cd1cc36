// The loss of every epoch of several runs as a plot.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "svg_plot.hpp"

namespace triad::examples {

/// runs: each with the `losses` of its epochs, of seeds first_seed, first_seed + 1, ...
template <class Runs>
plot loss_plot(Runs const& runs, std::uint64_t first_seed, std::string const& what) {
  plot loss{"Training loss", "epoch", what, {}, 0.0, {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    series s{"seed " + std::to_string(first_seed + i), {}, runs[i].losses, {}, false, false};
    for (std::size_t e = 0; e < s.y.size(); ++e) s.x.push_back(static_cast<double>(e + 1));
    loss.lines.push_back(std::move(s));
  }
  return loss;
}

}  // namespace triad::examples
