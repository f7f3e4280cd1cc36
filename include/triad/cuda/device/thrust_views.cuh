// Views of the data in a thrust::device_vector, so that a program that uses Thrust passes its data without a copy.
// SPDX-License-Identifier: Apache-2.0
//
// A view refers to the memory of the vector, so resizing or destroying the vector makes the view invalid.  The vector
// lies on the device that was current when the vector was made.  This device must be the device of the backend.
//
// A cuda::backend has its own stream, and the default stream does not wait for this stream.  Thrust's algorithms are
// complete when they return, so a backend may read their results.  Before Thrust reads results of a backend, call
// ex.synchronize(), or run Thrust in the stream of the backend: thrust::cuda::par.on(ex.stream()).
#pragma once

#include <thrust/device_vector.h>
#include <thrust/memory.h>

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/views.hpp"

namespace triad::cuda {

namespace detail {
/// T is the vector's value type, or that type with const.
template <class T, class Vector>
tensor<T, dyn, dyn> thrust_matrix(Vector& v, index_t rows, index_t columns) {
  auto const size = static_cast<index_t>(v.size());
  TRIAD_EXPECTS(rows >= 0 && columns >= 0 && (columns == 0 ? size == 0 : size / columns == rows && size % columns == 0),
                "view_of: a vector of " + std::to_string(size) + " values, expected " + std::to_string(rows) + " x " +
                    std::to_string(columns));
  return tensor<T, dyn, dyn>(thrust::raw_pointer_cast(v.data()), rows, columns);
}
}  // namespace detail

/// A view of all values of a vector.
template <class T, class Allocator>
vec<T> view_of(thrust::device_vector<T, Allocator>& v) {
  return make_vec(thrust::raw_pointer_cast(v.data()), static_cast<index_t>(v.size()));
}
template <class T, class Allocator>
vec<T const> view_of(thrust::device_vector<T, Allocator> const& v) {
  return make_vec(thrust::raw_pointer_cast(v.data()), static_cast<index_t>(v.size()));
}

/// A view of all values of a vector as a matrix, row after row.  Throws contract_violation if the vector does not have
/// rows * columns values.
template <class T, class Allocator>
tensor<T, dyn, dyn> view_of(thrust::device_vector<T, Allocator>& v, index_t rows, index_t columns) {
  return detail::thrust_matrix<T>(v, rows, columns);
}
template <class T, class Allocator>
tensor<T const, dyn, dyn> view_of(thrust::device_vector<T, Allocator> const& v, index_t rows, index_t columns) {
  return detail::thrust_matrix<T const>(v, rows, columns);
}

/// Deleted, because a temporary vector would be destroyed at the end of the expression.
template <class T, class Allocator, class... Sizes>
void view_of(thrust::device_vector<T, Allocator> const&& v, Sizes... sizes) = delete;

}  // namespace triad::cuda
