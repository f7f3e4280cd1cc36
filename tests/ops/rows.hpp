// Matrices for tests of operations on rows. Their sizes are near the numbers of elements that kernels process at the
// same time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <vector>

#include "tests/ragged.hpp"

namespace triad::test {

// The tolerance allows for rounding, in precision T, in sums of up to a thousand terms of size one.
template <class T>
inline constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;

// Sizes near the numbers of elements that kernels process at the same time: none, one, a register, a chunk of rows.
struct size {
  index_t rows, columns;
};
inline constexpr size sizes[] = {{0, 3}, {1, 1}, {3, 1}, {2, 7}, {5, 16}, {65, 17}, {130, 3}, {300, 50}};

template <class T>
tensor<T, dyn, dyn> rows_of(std::vector<T>& v, size s) {
  return tensor<T, dyn, dyn>(v.data(), s.rows, s.columns);
}
template <class T>
tensor<T const, dyn, dyn> rows_of(std::vector<T> const& v, size s) {
  return tensor<T const, dyn, dyn>(v.data(), s.rows, s.columns);
}

inline double dot(std::vector<double> const& a, std::vector<double> const& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace triad::test
