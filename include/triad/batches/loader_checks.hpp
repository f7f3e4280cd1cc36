// Functions with which all loaders check their arguments: impossible capacities, tokens below 0, and samples that do
// not fit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>

#include "triad/core/batch_sizes.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/sizes.hpp"

namespace triad {

/// Throws contract_violation if a count of a loader's capacity is negative, or so large that sums of counts could
/// overflow.
inline void expect_capacity(std::initializer_list<named_size> counts) {
  constexpr index_t most = index_t{1} << 60;
  for (auto const& c : counts)
    TRIAD_EXPECTS(c.value >= 0 && c.value <= most, std::string("a loader's capacity: ") + c.name + " is " +
                                                       std::to_string(c.value) + ", expected 0 to " +
                                                       std::to_string(most));
}
namespace detail {
/// Throws contract_violation if a token is below 0.  `loader` is the name of the loader in the message.
inline void expect_tokens(char const* loader, std::span<index_t const> tokens) {
  auto const bad = std::find_if(tokens.begin(), tokens.end(), [](index_t token) { return token < 0; });
  TRIAD_EXPECTS(bad == tokens.end(), std::string(loader) + ": token " + std::to_string(bad - tokens.begin()) +
                                         " of a sequence is " + std::to_string(*bad) + ", expected 0 or more");
}
/// Throws contract_violation if a token of the pair is below 0 or if the pair does not fit.  expect_source() does the
/// same for a source without a target.
template <class Dims>
void expect_pair(char const* loader, std::span<index_t const> source, std::span<index_t const> target, bool has_room,
                 Dims const& dims, Dims const& capacity) {
  expect_tokens(loader, source);
  expect_tokens(loader, target);
  TRIAD_EXPECTS(has_room, no_room(loader,
                                  "a pair of " + std::to_string(source.size()) + " and " +
                                      std::to_string(target.size()) + " tokens and their ends",
                                  dims, capacity));
}
template <class Dims>
void expect_source(char const* loader, std::span<index_t const> source, bool has_room, Dims const& dims,
                   Dims const& capacity) {
  expect_tokens(loader, source);
  TRIAD_EXPECTS(has_room, no_room(loader, "a source of " + std::to_string(source.size()) + " tokens and its end", dims,
                                  capacity));
}
}  // namespace detail

}  // namespace triad
