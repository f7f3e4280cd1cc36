// The five splits of Basic Sentence Transforms, with their names in files and in the paper.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "trees/data.hpp"

namespace triad::programs::transforms {

using trees::row, trees::data_set, trees::depth_limit;

/// The paper calls ood_new "OOD lexical": its sentences have adjectives that are in no training row. The paper calls
/// ood_long "OOD structural": its sentences have more adjectives than those in training.
enum class split { train, dev, test, ood_new, ood_long };

/// The splits in the order in which their labels get numbers.
inline constexpr std::array<split, 5> splits{split::train, split::dev, split::test, split::ood_new, split::ood_long};

/// The names of files, without .jsonl.
inline constexpr std::array<char const*, 5> split_names{"train", "validation", "test", "ood_new", "ood_long"};
inline constexpr char const* name_of(split s) { return split_names[static_cast<std::size_t>(s)]; }
/// Returns the file name of a split, without .jsonl, for the programs that read your own data: train, dev, test or
/// test_NAME.
inline std::string own_name_of(split s) {
  if (s == split::dev) return "dev";
  return (s == split::ood_new || s == split::ood_long ? "test_" : "") + std::string(name_of(s));
}

/// Returns a data set of these splits without rows.
inline data_set no_rows() {
  data_set data;
  for (auto const s : splits)
    data.parts.emplace_back(name_of(s), s == split::ood_new    ? "OOD lexical"
                                        : s == split::ood_long ? "OOD structural"
                                                               : name_of(s));
  return data;
}
inline trees::part& part_of(data_set& data, split s) { return data.parts[static_cast<std::size_t>(s)]; }
inline trees::part const& part_of(data_set const& data, split s) { return data.parts[static_cast<std::size_t>(s)]; }

}  // namespace triad::programs::transforms
