// The context of one call of a layer: the scratch arena, the training flag, and the key, step and path of dropout.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/random.hpp"
#include "triad/core/sizes.hpp"

namespace triad {

/// A checked pointer to an arena.  Throws contract_violation if a null pointer is dereferenced.
class scratch_place {
 public:
  constexpr scratch_place(arena* place = nullptr) : place_(place) {}

  constexpr arena& operator*() const {
    TRIAD_EXPECTS(place_ != nullptr, "call: no scratch memory, expected an arena; set call::scratch");
    return *place_;
  }
  constexpr arena* operator->() const { return &**this; }

 private:
  arena* place_;
};

struct call {
  scratch_place scratch{};  // memory that is freed at the end of the call
  bool train = false;       // false: no dropout
  philox_key key = 0;
  std::uint64_t const* step = nullptr;  // lies in the backend's memory
  std::uint64_t path = 0;               // the position in the model, unique to each use of a layer

  /// Returns the context for child layer i, 0 <= i < 255.  Layers can be nested at most eight levels deep.
  constexpr call child(index_t i) const {
    TRIAD_EXPECTS(i >= 0 && i < most_repeats,
                  "call: child " + std::to_string(i) + ", expected 0 to " + std::to_string(most_repeats - 1));
    TRIAD_EXPECTS(path >> 56 == 0, "call: a ninth level of children, expected at most eight levels");
    call c = *this;
    c.path = path << 8 | static_cast<std::uint64_t>(i + 1);
    return c;
  }

  /// Returns the dropout mask of this position in the model.  If `train` is false, the mask keeps every element.  The
  /// rate must be at least 0 and below 1.
  constexpr dropout_mask dropout(double rate) const {
    (void)dropout_rate("call", rate);
    return {train ? rate : 0, key, path, step};
  }
};

}  // namespace triad
