// Code that benchmarks share: random indices, random sentences, and names with sizes.
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

/// Returns a random index from 0 to count - 1.
inline index_t random_index(triad::random_stream& random, index_t count) {
  return static_cast<index_t>(random.below(static_cast<std::uint32_t>(count)));
}

/// Returns the tokens of a random sentence.  `length` is its length including the end token.  The first four of the
/// `words` tokens are special and do not occur.
inline std::vector<index_t> random_sentence(triad::random_stream& random, index_t length, index_t words) {
  std::vector<index_t> all;
  for (index_t i = 1; i < length; ++i) all.push_back(4 + random_index(random, words - 4));
  return all;
}

/// Adds `count` pairs of random sentences to a loader.
template <class Loader>
void fill_pairs(Loader& loader, index_t count, index_t source, index_t target, index_t words) {
  triad::random_stream random(5, 0);
  for (index_t b = 0; b < count; ++b) {
    auto const from = random_sentence(random, source, words);
    loader.add(from, random_sentence(random, target, words));
  }
}

/// Returns the text /b:32/d:512 for {"b", 32}, {"d", 512}.
inline std::string name_of(std::initializer_list<std::pair<char const*, index_t>> sizes) {
  std::string name;
  for (auto const& [label, size] : sizes) name += std::string("/") + label + ":" + std::to_string(size);
  return name;
}

}  // namespace bench
