// A hash of the addresses and sizes on which recorded work depends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "triad/core/mdspan.hpp"

namespace triad {

/// A hash of addresses, sizes and settings.  Two calls with the same hash do the same operations in the same memory.
class replay_key {
 public:
  std::uint64_t value() const { return hash_; }

  void add(std::uint64_t number) { hash_ = (hash_ ^ number) * 0x100000001b3u + (hash_ >> 29); }
  void add(index_t number) { add(static_cast<std::uint64_t>(number)); }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(void const* address) { add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address))); }

  /// Adds the addresses and lengths of views.
  template <class... View>
  void add_views(View const&... views) {
    (add_view(views), ...);
  }

 private:
  template <class View>
  void add_view(View const& v) {
    add(static_cast<void const*>(v.data_handle()));
    add(static_cast<std::uint64_t>(v.size()));
  }

  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace triad
