// How soft the choices of an update are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "options.hpp"

namespace tree_transforms {

/// What the scores of an update are divided by where `choice` is how they are chosen from.  Softmax: from o.temperature
/// down to 1, by the same factor every update.  Without it machines of few steps often settle early on choices that
/// leave other steps without a use and without a gradient; hot choices give every step its part of the answer, and the
/// cooling makes them choose.  Gumbel: from 1 down to 0.5, as in the released program.
inline double temperature_at(options const& o, std::string const& choice, std::uint64_t update) {
  auto const k = static_cast<double>(update);
  if (choice != "softmax") return std::max(0.5, 1 - k / static_cast<double>(o.updates));
  return update < static_cast<std::uint64_t>(o.cooling) ? std::pow(o.temperature, 1 - k / o.cooling) : 1;
}

}  // namespace tree_transforms
