// One call of an operation. Its form is the same for all operations: operands and results are arrays of numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/ragged.hpp"
#include "triad/core/views.hpp"

namespace triad::test::operations {

/// The operands or the results of an operation. Up to 64 numbers after the end of each operand may be read.
template <class T>
using numbers = std::vector<std::vector<T>>;

/// An operation, and the sizes of its operands.
template <class Ex, class T>
struct operation_use {
  std::string name;
  std::vector<index_t> sizes;
  std::function<numbers<T>(Ex&, numbers<T> const&)> run;
  double range = 1;  // range of the operands' random values
};

template <class T>
numbers<T> room_for_numbers(std::vector<index_t> const& sizes, T value = std::numeric_limits<T>::quiet_NaN()) {
  numbers<T> all;
  for (auto n : sizes) all.push_back(std::vector<T>(static_cast<std::size_t>(n), value));
  return all;
}
template <class T>
numbers<T> operands_of(std::vector<index_t> const& sizes, double range) {
  numbers<T> all;
  std::uint64_t stream = 0;
  for (auto n : sizes) {
    all.push_back(random_values<T>(n, ++stream, range));
    all.back().resize(static_cast<std::size_t>(n + 64));
  }
  return all;
}

/// Makes views of arrays.
template <class T>
vec<T const> in(std::vector<T> const& v, index_t n) {
  return make_vec<T const>(v.data(), n);
}
template <class T>
matrix<T const> in(std::vector<T> const& v, index_t rows, index_t columns) {
  return make_matrix<T const>(v.data(), rows, columns, columns);
}
template <class T>
vec<T> out(std::vector<T>& v, index_t n) {
  return make_vec(v.data(), n);
}
template <class T>
matrix<T> out(std::vector<T>& v, index_t rows, index_t columns) {
  return make_matrix(v.data(), rows, columns, columns);
}
template <class T>
using table_in = tensor<T const, dyn, dyn>;
template <class T>
using table_out = tensor<T, dyn, dyn>;

}  // namespace triad::test::operations
