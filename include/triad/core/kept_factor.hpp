// A matrix that a layer keeps because matrix products read it.  If the products round it to bfloat16, the matrix is
// stored in bfloat16, in half the memory.
// SPDX-License-Identifier: Apache-2.0
//
// A product that rounds its factors computes the same bits from the float matrix and from the rounded matrix.  The
// arena from which a layer plans its memory says whether products round (arena::rounds_from()), so a layer does not
// know the backend.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "triad/core/arena.hpp"
#include "triad/core/bfloat16.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// A matrix (rows, d) of S, or of bfloat16.  The other view is empty.
template <class S, index_t D = dyn>
struct kept_factor {
  using rounded_element = std::conditional_t<std::is_const_v<S>, bfloat16 const, bfloat16>;

  tensor<S, dyn, D> values{};
  tensor<rounded_element, dyn, D> rounded{};

  constexpr kept_factor() = default;
  template <class View>
    requires std::convertible_to<View, tensor<S, dyn, D>>
  constexpr kept_factor(View v) : values(v) {}
  constexpr kept_factor(tensor<rounded_element, dyn, D> r)
      : values(nullptr, extents<dyn, D>(0, r.extent(1))), rounded(r) {}
  /// A view with read-only elements, or a view with the number of columns in its type.
  template <class Other, index_t E>
    requires(std::convertible_to<tensor<Other, dyn, E>, tensor<S, dyn, D>>)
  constexpr kept_factor(kept_factor<Other, E> const& f) : values(f.values), rounded(f.rounded) {}

  constexpr bool is_rounded() const { return rounded.extent(0) != 0; }
  constexpr index_t extent(std::size_t axis) const { return is_rounded() ? rounded.extent(axis) : values.extent(axis); }
};

/// Whether factors with `columns` columns are kept in bfloat16, if the other extent of the products is `partner`.
template <class T>
constexpr bool keeps_rounded(arena const& place, index_t columns, index_t partner) {
  return std::same_as<T, float> && place.rounds_from() > 0 && std::min(columns, partner) >= place.rounds_from();
}

/// Takes memory for a matrix (rows, columns) that products read.  `partner` is the smallest other extent of the
/// products, apart from the number of rows.  The matrix is stored in T if `rounds` is false.
template <class T, index_t D = dyn>
kept_factor<T, D> make_factor(arena& place, index_t rows, index_t columns, index_t partner, bool rounds = true) {
  if (rounds && keeps_rounded<T>(place, columns, partner)) return place.make<tensor<bfloat16, dyn, D>>(rows, columns);
  return place.make<tensor<T, dyn, D>>(rows, columns);
}

/// Returns memory for the unrounded values of a factor: the factor itself, or scratch memory if the factor is rounded.
template <class T, index_t D>
tensor<T, dyn, D> unrounded(arena& scratch, kept_factor<T, D> const& f) {
  return f.is_rounded() ? scratch.make<tensor<T, dyn, D>>(f.extent(0), f.extent(1)) : f.values;
}

}  // namespace triad
