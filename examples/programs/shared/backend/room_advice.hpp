// The error message if there is not enough memory for a model.  It says what the memory is for, how much is needed, and
// how much is available.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "triad/core/mdspan.hpp"

namespace triad::programs {

/// The size of an example, and where the example is, such as "data/test.jsonl:3" or "sentence 3 of test".
struct sized_example {
  std::string place;
  long long size;
};

/// Returns a text such as "a has 75 words" or "a, b have 55, 75 words".  If there are more than eight examples, the
/// text names the eight largest and the largest size.
std::string told_sizes(std::vector<sized_example> all, std::string const& unit);

/// Appends the examples that are larger than `than`.  Calls place(i), which makes a text, only for these examples.
template <class Count, class Size, class Place>
void add_larger(std::vector<sized_example>& to, long long than, Count count, Size const& size, Place const& place) {
  for (Count i = 0; i < count; ++i)
    if (auto const n = static_cast<long long>(size(i)); n > than) to.push_back({place(i), n});
}

/// Returns three quarters of `most`.  The message about missing memory names all examples above this size.
inline int nearly(index_t most) { return static_cast<int>(3 * (most / 4)); }

/// Says what a model needs memory for, in the message about missing memory.
struct room_advice {
  std::string batches{};  // "batches of 32 graphs of up to 2 nodes"; empty: no training
  std::string remedy{};   // "take a smaller --batch, or --recompute"
  std::string unit{};     // "nodes"
  /// Returns the examples that are larger than those of the batches.  If there are none, returns the largest examples.
  /// This function is called only if an allocation failed.
  std::function<std::vector<sized_example>()> larger{};
};

/// Returns how many bytes this process may still allocate, which is limited by the process's own limit, by its control
/// group, and by the machine.  Returns nothing if no limit is known.
std::optional<std::size_t> memory_left();

/// Throws a data_error about missing memory.  `bytes` is the size that could not be allocated, or 0 if it is unknown.
/// `left` is memory_left(), or nothing if another kind of memory was requested.
[[noreturn]] void refuse_room(room_advice const& advice, std::size_t bytes, std::optional<std::size_t> left);

}  // namespace triad::programs
