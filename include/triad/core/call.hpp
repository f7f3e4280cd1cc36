// What belongs to one use of a layer and to no layer: random key, step, place in the model, mode, scratch memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/random.hpp"

namespace triad {

struct call {
  arena* scratch = nullptr;             // marked and released inside one call
  bool train = false;                   // false: no dropout
  philox_key key = 0;
  std::uint64_t const* step = nullptr;  // lives where the data lives
  std::uint64_t path = 0;               // the place in the model; no two places share one

  /// The call of child i, 0 <= i < 255, at most eight levels deep.
  constexpr call child(index_t i) const {
    TRIAD_EXPECTS(i >= 0 && i < 255 && path >> 56 == 0, "call: at most 255 children a level and eight levels");
    call c = *this;
    c.path = path << 8 | static_cast<std::uint64_t>(i + 1);
    return c;
  }

  /// The dropout of this place; keeps everything outside training.
  constexpr dropout_mask dropout(double rate) const { return {train ? rate : 0, key, path, step}; }
};

}  // namespace triad
