// The message if the memory does not suffice for a model: the options that need it, its size, and the available size.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "triad/core/mdspan.hpp"

namespace triad::programs {

/// An example by its place, such as "data/test.jsonl:3" or "sentence 3 of test", and its size.
struct sized_example {
  std::string place;
  long long size;
};

/// "a has 75 words"; of several "a, b have 55, 75 words"; of more than eight those that are largest, and how large.
std::string told_sizes(std::vector<sized_example> all, std::string const& unit);

/// Of examples (place, size) those of a size above `than`; of a place only what is taken needs a text.
template <class Count, class Size, class Place>
void add_larger(std::vector<sized_example>& to, long long than, Count count, Size const& size, Place const& place) {
  for (Count i = 0; i < count; ++i)
    if (auto const n = static_cast<long long>(size(i)); n > than) to.push_back({place(i), n});
}

/// Whatever is larger is about as large as `most`: memory grows by the second or third power of a size.
inline int nearly(index_t most) { return static_cast<int>(3 * (most / 4)); }

/// What a model needs room for.
struct room_advice {
  std::string batches{};  // "batches of 32 graphs of up to 2 nodes"; empty: of no training
  std::string remedy{};   // "take a smaller --batch, or --recompute"
  std::string unit{};     // "nodes"
  /// Examples that are larger than those of the batches, or where there are none the largest; asked where memory was
  /// refused.
  std::function<std::vector<sized_example>()> larger{};
};

/// The bytes that this process may have in addition to what it has, by its limit, its control group and the machine;
/// nothing where none of them tells.
std::optional<std::size_t> memory_left();

/// Throws data_error.  bytes: that were refused; 0: not known.  left: memory_left(), where that is about the memory
/// which was asked for.
[[noreturn]] void refuse_room(room_advice const& advice, std::size_t bytes, std::optional<std::size_t> left);

}  // namespace triad::programs
