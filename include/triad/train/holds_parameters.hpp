// Concepts for types that hold parameters, and for types that train parameters.  Functions that check weights, or that
// read and write files, take these types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "triad/core/random.hpp"

namespace triad {

/// A set of parameters, such as parameter_set.  It knows the memory of its tensors, and may hold moments.
template <class Set>
concept holds_parameters = requires(Set& set, Set const& read) {
  typename Set::memory;
  set.mutable_values();
  read.values();
  read.holds_moments();
  read.where();
  read.expect_weights("who asks");
};

/// A type that trains parameters, such as trainer.
template <class Learner>
concept learns_parameters = requires(Learner& learner, Learner const& read, std::uint64_t step) {
  requires holds_parameters<std::remove_cvref_t<decltype(learner.parameters())>>;
  learner.set_step(step);
  { read.step() } -> std::convertible_to<std::uint64_t>;
  { read.options().key } -> std::convertible_to<philox_key>;
};

}  // namespace triad
