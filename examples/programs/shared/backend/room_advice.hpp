// The message if there is not enough memory for a model: what the memory is for, its size, and the available size.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "triad/core/mdspan.hpp"

namespace triad::programs {

/// An example that needs memory: its place, such as "data/test.jsonl:3" or "sentence 3 of test", and its size.
struct sized_example {
  std::string place;
  long long size;
};

/// Returns a text such as "a has 75 words" or "a, b have 55, 75 words".  With more than eight examples it names the
/// largest eight, and the largest size.
std::string told_sizes(std::vector<sized_example> all, std::string const& unit);

/// Appends the examples that are larger than `than`.  place(i) is called only for these, because it makes a text.
template <class Count, class Size, class Place>
void add_larger(std::vector<sized_example>& to, long long than, Count count, Size const& size, Place const& place) {
  for (Count i = 0; i < count; ++i)
    if (auto const n = static_cast<long long>(size(i)); n > than) to.push_back({place(i), n});
}

/// Returns a smaller size that needs about the same memory as `most`, since memory grows with its second or third
/// power.
inline int nearly(index_t most) { return static_cast<int>(3 * (most / 4)); }

/// For a message about missing memory: what the model needs the memory for.
struct room_advice {
  std::string batches{};  // "batches of 32 graphs of up to 2 nodes"; empty: no training
  std::string remedy{};   // "take a smaller --batch, or --recompute"
  std::string unit{};     // "nodes"
  /// Returns the examples that are larger than those of the batches, or the largest examples if there are none.  It is
  /// called only if an allocation failed.
  std::function<std::vector<sized_example>()> larger{};
};

/// Returns the bytes that this process may still allocate, according to its limit, its control group and the machine.
/// Returns nothing if none of these is known.
std::optional<std::size_t> memory_left();

/// Throws data_error about missing memory.  bytes: the size that could not be allocated; 0: unknown.  left:
/// memory_left(), if it is about the same kind of memory as the request.
[[noreturn]] void refuse_room(room_advice const& advice, std::size_t bytes, std::optional<std::size_t> left);

}  // namespace triad::programs
