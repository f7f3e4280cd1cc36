// Pieces of memory planned alike, one behind the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/arena.hpp"

namespace triad {

/// plan(arena&) makes one piece.  Piece k is planned afresh each time it is asked for, in slot k mod `slots`.
template <class Plan>
struct series {
  Plan plan;
  std::byte* base;
  std::size_t stride;
  index_t slots;

  auto at(index_t k) const {
    auto place = base ? arena(base + static_cast<std::size_t>(k % slots) * stride, stride) : arena();
    return plan(place);
  }
};

template <class Plan>
series<Plan> plan_series(arena& place, Plan plan, index_t slots) {
  auto const stride = planned_bytes([&](arena& a) { (void)plan(a); });
  auto* const base = static_cast<std::byte*>(place.rest().base());
  place.skip(stride, slots);
  return {plan, base, stride, slots};
}

}  // namespace triad
