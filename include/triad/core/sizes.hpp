// Functions that check the sizes and rates of layers and models.  The values come from callers or files.
// SPDX-License-Identifier: Apache-2.0
//
//   extents_of<D>("my_layer", {"width", given})       a size from the type, or the given one if D is dyn
//   width_and_heads<D, H>("my_layer", width, heads)   the same for two sizes; checks that heads divides width
//   checked_size("my_layer", {"labels", given})       a size that no type contains
//   dropout_rate("my_layer", given)                   a rate of at least 0 and below 1
//
// All functions throw contract_violation if a number is wrong, with the number in the message.  If a size is static in
// the type of a layer, the caller need not set the size in the options: its value is then `not_given`.  If the caller
// sets a size that differs from the static size, the functions throw.
#pragma once

#include <limits>
#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// The value of a size that the caller has not set in the options.  The layer then uses the static size in its type, or
/// the default in the comment of the option.  If there is neither, the constructor throws.
inline constexpr index_t not_given = std::numeric_limits<index_t>::min();

/// The largest width, number of labels or number of tokens.  The product of two such numbers fits into index_t.
inline constexpr index_t largest_size = (index_t{1} << 31) - 1;
/// The largest number of repeats of a layer.  Each repeat is a child of one call, and a call has at most 255 children
/// (core/call.hpp).
inline constexpr index_t most_repeats = 255;

/// A size with its name for messages.
struct named_size {
  char const* name;
  index_t value;
  index_t most = largest_size;
};

namespace detail {
[[noreturn]] inline void refuse_size(char const* owner, named_size const& size) {
  auto const found = size.value == not_given ? std::string(" was not given") : " is " + std::to_string(size.value);
  throw contract_violation(std::string(owner) + ": " + size.name + found + ", expected 1 to " +
                           std::to_string(size.most));
}
[[noreturn]] inline void refuse_other_size(char const* owner, named_size const& size, index_t known) {
  throw contract_violation(std::string(owner) + ": " + size.name + " is " + std::to_string(size.value) + ", expected " +
                           std::to_string(known) + ", the size in the type; leave it out, or give the same");
}
}  // namespace detail

/// Returns the size.  Throws if the size is less than 1 or more than size.most.  The message names `owner`, the object
/// that is being constructed.
constexpr index_t checked_size(char const* owner, named_size const& size) {
  if (size.value < 1 || size.value > size.most) detail::refuse_size(owner, size);
  return size.value;
}

/// If E is a static size, returns E, and a size that the caller gives must be equal to E.  If E is dyn, returns
/// checked_size().
template <index_t E>
constexpr index_t checked_size_of(char const* owner, named_size const& size) {
  if constexpr (E != dyn) {
    if (size.value != not_given && size.value != E) detail::refuse_other_size(owner, size, E);
    return E;
  } else {
    return checked_size(owner, size);
  }
}

/// Returns the result of checked_size_of() as extents.
template <index_t E>
constexpr extents<E> extents_of(char const* owner, named_size const& size) {
  return extents<E>(checked_size_of<E>(owner, size));
}
template <index_t A, index_t B>
constexpr extents<A, B> extents_of(char const* owner, named_size const& a, named_size const& b) {
  index_t const first = checked_size_of<A>(owner, a);
  return extents<A, B>(first, checked_size_of<B>(owner, b));
}

/// Returns (width, heads).  If the caller does not give the number of heads, the number is H, or 1 if H is dyn.
template <index_t D, index_t H>
constexpr extents<D, H> width_and_heads(char const* owner, index_t width, index_t heads) {
  if (H == dyn && heads == not_given) heads = 1;
  auto const both = extents_of<D, H>(owner, {"width", width}, {"heads", heads});
  if (both.extent(0) % both.extent(1) != 0)
    throw contract_violation(std::string(owner) + ": heads are " + std::to_string(both.extent(1)) + " and width is " +
                             std::to_string(both.extent(0)) + ", expected heads that divide the width");
  return both;
}

/// Returns the given rate of dropout, which must be at least 0 and below 1.
constexpr double dropout_rate(char const* owner, double rate) {
  if (is_nan(rate) || !(rate >= 0 && rate < 1))
    throw contract_violation(std::string(owner) + ": dropout is " + std::to_string(rate) +
                             ", expected at least 0 and below 1");
  return rate;
}

/// Returns the product a b of two numbers of 0 or more, which must fit into index_t.
constexpr index_t checked_product(char const* owner, char const* name, index_t a, index_t b) {
  if (a != 0 && b > std::numeric_limits<index_t>::max() / a)
    throw contract_violation(std::string(owner) + ": " + name + " are " + std::to_string(a) + " times " +
                             std::to_string(b) + ", expected a product below 2^63");
  return a * b;
}

/// Checks the options of a layer: width, heads, hidden and dropout.  Returns the options with the static sizes of the
/// layer's type.
template <index_t D, index_t H, index_t F, class Options>
constexpr Options checked_options(char const* owner, Options o) {
  auto const shape = width_and_heads<D, H>(owner, o.width, o.heads);
  o.width = shape.extent(0);
  o.heads = shape.extent(1);
  o.hidden = checked_size_of<F>(owner, {"hidden", o.hidden});
  o.dropout = dropout_rate(owner, o.dropout);
  return o;
}

}  // namespace triad
