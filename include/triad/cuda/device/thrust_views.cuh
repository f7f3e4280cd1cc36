// Views of what lies in a thrust::device_vector: a program that uses Thrust hands its data over without a copy.
// SPDX-License-Identifier: Apache-2.0
//
// A view is the vector's memory: it ends where the vector is resized or destroyed, and it is of the device that was
// current when the vector was made, which is to be the backend's.
//
// A cuda::backend has a stream of its own, which the default stream does not wait for.  Thrust's algorithms have ended
// when they return, so that a backend may read what they wrote.  Before Thrust reads what a backend writes, call
// ex.synchronize(), or give Thrust that stream: thrust::cuda::par.on(ex.stream()).
#pragma once

#include <thrust/device_vector.h>
#include <thrust/memory.h>

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/views.hpp"

namespace triad::cuda {

namespace detail {
/// T: the vector's, or const.
template <class T, class Vector>
tensor<T, dyn, dyn> thrust_matrix(Vector& v, index_t rows, index_t columns) {
  auto const size = static_cast<index_t>(v.size());
  TRIAD_EXPECTS(rows >= 0 && columns >= 0 && (columns == 0 ? size == 0 : size / columns == rows && size % columns == 0),
                "view_of: a vector of " + std::to_string(size) + " values, expected " + std::to_string(rows) + " x " +
                    std::to_string(columns));
  return tensor<T, dyn, dyn>(thrust::raw_pointer_cast(v.data()), rows, columns);
}
}  // namespace detail

/// All values of a vector.
template <class T, class Allocator>
vec<T> view_of(thrust::device_vector<T, Allocator>& v) {
  return make_vec(thrust::raw_pointer_cast(v.data()), static_cast<index_t>(v.size()));
}
template <class T, class Allocator>
vec<T const> view_of(thrust::device_vector<T, Allocator> const& v) {
  return make_vec(thrust::raw_pointer_cast(v.data()), static_cast<index_t>(v.size()));
}

/// The same as rows, one after the other.  Throws contract_violation where the vector has another size.
template <class T, class Allocator>
tensor<T, dyn, dyn> view_of(thrust::device_vector<T, Allocator>& v, index_t rows, index_t columns) {
  return detail::thrust_matrix<T>(v, rows, columns);
}
template <class T, class Allocator>
tensor<T const, dyn, dyn> view_of(thrust::device_vector<T, Allocator> const& v, index_t rows, index_t columns) {
  return detail::thrust_matrix<T const>(v, rows, columns);
}

/// Deleted: a temporary vector would end with the expression.
template <class T, class Allocator, class... Sizes>
void view_of(thrust::device_vector<T, Allocator> const&& v, Sizes... sizes) = delete;

}  // namespace triad::cuda
