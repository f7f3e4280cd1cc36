// Sinusoidal position encodings ("waves").  Edge Transformers use position_waves(), and sequence models use
// half_waves().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "triad/core/sizes.hpp"

namespace triad {

/// Returns a table (positions, d), row by row.
///
///   p(i, 2 k) = sin(i w), p(i, 2 k + 1) = cos(i w), w = 10000^(-2 k / d)
///
/// Computed in float, as in the released programs of the Edge Transformer.
inline std::vector<float> position_waves(index_t positions, index_t d) {
  std::vector<float> waves;
  waves.reserve(static_cast<std::size_t>(checked_product("position_waves", "positions and width", positions, d)));
  for (index_t i = 0; i < positions; ++i)
    for (index_t c = 0; c < d; ++c) {
      auto const w =
          std::exp(static_cast<float>(c / 2 * 2) * static_cast<float>(-std::log(10000.0) / static_cast<double>(d)));
      waves.push_back(c % 2 == 0 ? std::sin(static_cast<float>(i) * w) : std::cos(static_cast<float>(i) * w));
    }
  return waves;
}

/// Returns a table (positions, d), row by row.  The first half of row k has the sines of position k, and the second
/// half has the cosines, as in fairseq.
///
///   p(k, i) = sin((k + 2) w_i),  p(k, h + i) = cos((k + 2) w_i),  w_i = 10000^(-i / (h - 1)),  i < h = floor(d / 2)
///   p(k, d - 1) = 0 if d is odd
inline std::vector<double> half_waves(index_t positions, index_t d) {
  index_t const h = d / 2;
  std::vector<double> waves(
      static_cast<std::size_t>(checked_product("half_waves", "positions and width", positions, d)));
  auto at = waves.begin();
  for (index_t k = 0; k < positions; ++k) {
    for (index_t c = 0; c < 2 * h; ++c) {
      index_t const i = c % h;
      double const w =
          i == 0
              ? 1.0
              : std::exp(-static_cast<double>(i) * (std::log(10000.0) / static_cast<double>(h - 1)));  // i > 0: h > 1
      double const angle = static_cast<double>(k + 2) * w;
      *at++ = c < h ? std::sin(angle) : std::cos(angle);
    }
    at += d % 2;
  }
  return waves;
}

}  // namespace triad
