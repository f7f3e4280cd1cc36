// The one place that includes an mdspan: index type, extents and the views every other header is written with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/mdspan>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace triad {

/// Signed 64-bit: offsets pass 2^31 elements at n = 1024, d = 256, b = 8.
using index_t = std::int64_t;

/// A size that the data decides.
inline constexpr index_t dyn = -1;

template <index_t... E>
using extents = ::cuda::std::extents<index_t, static_cast<std::size_t>(E)...>;

/// Row-major, contiguous view.  `tensor<float const, dyn, 64> x;  // (rows, 64)`
template <class T, index_t... E>
using tensor = ::cuda::std::mdspan<T, extents<E...>>;

/// What backends are handed: one contiguous row of values.
template <class T>
using vec = tensor<T, dyn>;

/// What backends are handed: a matrix of any strides, so that a transpose or a column block is only another view.
template <class T>
using matrix = ::cuda::std::mdspan<T, extents<dyn, dyn>, ::cuda::std::layout_stride>;

template <class View>
using element_t = std::remove_cv_t<typename View::element_type>;

/// The same view of read-only elements.
template <class View>
using const_view = ::cuda::std::mdspan<typename View::element_type const, typename View::extents_type, typename View::layout_type>;

}  // namespace triad
