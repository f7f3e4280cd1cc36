// Memory for the views of several numbered items, such as the layers of a model.  One function plans the views of each
// item.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include "triad/core/arena.hpp"

namespace triad {

/// A series of items in one block of memory.  at(k) returns the views of item k.  plan(arena&) takes the memory of one
/// item and returns its views.  If items differ in size, plan(arena&, k) does this for item k.  The memory is divided
/// into `slots` slots, and item k lies in slot k mod `slots`.  Every call of at(k) calls the plan for item k again.
template <class Plan>
struct series {
  Plan plan;
  arena memory;        // memory of all slots
  std::size_t stride;  // the number of bytes of a slot, which is as large as the largest item
  index_t slots;

  /// Whether items differ in size.
  static constexpr bool by_index = std::is_invocable_v<Plan const&, arena&, index_t>;

  auto at(index_t k) const {
    TRIAD_EXPECTS(slots > 0 && k >= 0, "series: piece " + std::to_string(k) + " of " + std::to_string(slots) +
                                           " slots, expected a piece from 0 on and 1 slot or more");
    auto* const begin = static_cast<std::byte*>(memory.base());
    auto place =
        memory.alike(begin != nullptr ? begin + static_cast<std::size_t>(k % slots) * stride : nullptr, stride);
    return make(place, k);
  }
  auto make(arena& place, [[maybe_unused]] index_t k) const {
    if constexpr (by_index)
      return plan(place, k);
    else
      return plan(place);
  }
};

/// Takes memory for `slots` slots, for items 0 to count - 1.
template <class Plan>
series<Plan> plan_series(arena& place, Plan plan, index_t count, index_t slots) {
  series<Plan> s{plan, {}, 0, slots};
  for (index_t k = 0; k < (s.by_index ? count : 1); ++k)
    s.stride = std::max(s.stride, planned_bytes([&](arena& a) { (void)s.make(a, k); }, place.rounds_from()));
  s.memory = place.cut(s.stride, slots);
  return s;
}
/// Takes memory for `count` items, with one slot for each item.
template <class Plan>
series<Plan> plan_series(arena& place, Plan plan, index_t count) {
  return plan_series(place, plan, count, count);
}

}  // namespace triad
