// Several pieces of memory with the same plan, one after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include "triad/core/arena.hpp"

namespace triad {

/// A series of pieces.  plan(arena&) takes the memory of a piece and returns its views; if pieces differ in size,
/// plan(arena&, k) does this for piece k.  Each call of at(k) plans piece k again, in slot k mod `slots`.
template <class Plan>
struct series {
  Plan plan;
  arena memory;        // memory of all slots
  std::size_t stride;  // bytes of a slot, which is as large as the largest piece
  index_t slots;

  /// Whether pieces differ in size.
  static constexpr bool by_index = std::is_invocable_v<Plan const&, arena&, index_t>;

  auto at(index_t k) const {
    TRIAD_EXPECTS(slots > 0 && k >= 0, "series: piece " + std::to_string(k) + " of " + std::to_string(slots) +
                                           " slots, expected a piece from 0 on and 1 slot or more");
    auto* const begin = static_cast<std::byte*>(memory.base());
    auto place = begin != nullptr ? arena(begin + static_cast<std::size_t>(k % slots) * stride, stride) : arena();
    return make(place, k);
  }
  auto make(arena& place, [[maybe_unused]] index_t k) const {
    if constexpr (by_index)
      return plan(place, k);
    else
      return plan(place);
  }
};

/// Takes the memory of `slots` slots for pieces 0 to count - 1.
template <class Plan>
series<Plan> plan_series(arena& place, Plan plan, index_t count, index_t slots) {
  series<Plan> s{plan, {}, 0, slots};
  for (index_t k = 0; k < (s.by_index ? count : 1); ++k)
    s.stride = std::max(s.stride, planned_bytes([&](arena& a) { (void)s.make(a, k); }));
  s.memory = place.cut(s.stride, slots);
  return s;
}
/// Takes the memory of `count` pieces, each with its own slot.
template <class Plan>
series<Plan> plan_series(arena& place, Plan plan, index_t count) {
  return plan_series(place, plan, count, count);
}

}  // namespace triad
