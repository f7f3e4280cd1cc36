// What benchmarks of sequences share: random sentences, and names of sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/mdspan.hpp"
#include "triad/core/random.hpp"

namespace bench {

using triad::index_t;

/// The tokens of a sentence of `length` but its end; the first four of `words` are special ones.
inline std::vector<index_t> random_sentence(triad::random_stream& random, index_t length, index_t words) {
  std::vector<index_t> all;
  for (index_t i = 1; i < length; ++i) all.push_back(4 + static_cast<index_t>(random.below(static_cast<std::uint32_t>(words - 4))));
  return all;
}

/// {"b", 32}, {"d", 512}: /b:32/d:512.
inline std::string name_of(std::initializer_list<std::pair<char const*, index_t>> sizes) {
  std::string name;
  for (auto const& [label, size] : sizes) name += std::string("/") + label + ":" + std::to_string(size);
  return name;
}

}  // namespace bench
