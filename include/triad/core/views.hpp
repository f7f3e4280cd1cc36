// Small functions that make views from other views, such as matrices from tensors, transposes, and blocks of rows or
// columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// Returns a matrix over memory that the caller owns.  Strides are in elements and must be positive, except that a row
/// stride of 0 becomes 1.
template <class T>
constexpr matrix<T> make_matrix(T* data, index_t rows, index_t columns, index_t row_stride, index_t column_stride = 1) {
  using mapping = typename matrix<T>::mapping_type;
  // The strides of an mdspan must be positive, even for the empty no_matrix().
  return matrix<T>(data, mapping(extents<dyn, dyn>(rows, columns),
                                 ::cuda::std::array<index_t, 2>{row_stride > 0 ? row_stride : 1, column_stride}));
}

/// Returns an empty matrix (0, 0), which stands for an omitted operand.
template <class T>
constexpr matrix<T> no_matrix() {
  return make_matrix<T>(nullptr, 0, 0, 0);
}

/// Returns a row of values over memory that the caller owns.
template <class T>
constexpr vec<T> make_vec(T* data, index_t size) {
  return vec<T>(data, size);
}

/// Returns a view of rank 1 or more as a matrix.  The last axis becomes the columns, and all other axes together become
/// the rows.
template <class View>
constexpr matrix<typename View::element_type> as_matrix(View v) {
  static_assert(View::rank() >= 1, "triad: a scalar has no rows");
  constexpr auto last = View::rank() - 1;
  index_t const columns = v.extent(last);
  if constexpr (View::rank() == 2) {
    return make_matrix(v.data_handle(), v.extent(0), columns, v.stride(0), v.stride(1));
  } else {
    static_assert(std::is_same_v<typename View::layout_type, ::cuda::std::layout_right>,
                  "triad: only contiguous views of rank other than 2 can be read as a matrix");
    index_t rows = 1;
    for (std::size_t r = 0; r < last; ++r) rows *= v.extent(r);
    return make_matrix(v.data_handle(), rows, columns, columns);
  }
}

/// Returns a contiguous view as one row of values.
template <class View>
constexpr vec<typename View::element_type> as_vec(View v) {
  static_assert(std::is_same_v<typename View::layout_type, ::cuda::std::layout_right>,
                "triad: a vector view needs contiguous elements");
  return vec<typename View::element_type>(v.data_handle(), static_cast<index_t>(v.size()));
}

/// Returns a row of values as a matrix of one column.
template <class T>
constexpr tensor<T, dyn, dyn> as_column(vec<T> v) {
  return tensor<T, dyn, dyn>(v.data_handle(), v.extent(0), index_t{1});
}

/// Returns the first values of a contiguous view as a matrix (rows, columns).  The number of columns may be static.
template <index_t Columns = dyn, class View>
constexpr tensor<typename View::element_type, dyn, Columns> reshape(View v, index_t rows, index_t columns) {
  TRIAD_EXPECTS(rows >= 0 && columns >= 0 && rows * columns <= static_cast<index_t>(v.size()),
                "reshape: " + std::to_string(rows) + " x " + std::to_string(columns) + " values, expected 0 to " +
                    std::to_string(v.size()) + ", the size of the view");
  return tensor<typename View::element_type, dyn, Columns>(v.data_handle(), rows, columns);
}
/// Returns all values of a contiguous view as a matrix of one row.
template <class View>
constexpr tensor<typename View::element_type, dyn, dyn> as_row(View v) {
  return reshape(v, 1, static_cast<index_t>(v.size()));
}

/// Returns the address of an element.  The view may have no memory, as in an arena that only counts bytes.
template <class View, class... Index>
constexpr typename View::element_type* address_of(View const& v, Index... at) {
  return v.data_handle() + v.mapping()(at...);
}

/// Returns a read-only view of the same elements.
template <class View>
constexpr const_view<View> read_only(View v) {
  return const_view<View>(v);
}

/// Returns slice k of a contiguous view along its first axis.  From a view (l, rows, d), returns a view (rows, d).
/// Static extents of v are static in the slice.  If v has no memory, the slice has no memory.
template <class T, std::size_t First, std::size_t... Rest>
constexpr auto slice(
    ::cuda::std::mdspan<T, ::cuda::std::extents<index_t, First, Rest...>, ::cuda::std::layout_right, element_access<T>>
        v,
    index_t k) {
  static_assert(sizeof...(Rest) > 0, "triad: a vector has elements, no slices");
  using part =
      ::cuda::std::mdspan<T, ::cuda::std::extents<index_t, Rest...>, ::cuda::std::layout_right, element_access<T>>;
  ::cuda::std::array<index_t, sizeof...(Rest)> sizes{};
  for (std::size_t r = 0; r < sizes.size(); ++r) sizes[r] = v.extent(r + 1);
  return part(v.data_handle() != nullptr ? v.data_handle() + k * v.stride(0) : nullptr,
              typename part::extents_type(sizes));
}

/// Returns rows [first, first + count) of a contiguous view of rank 2.  If the width of the view is static, the width
/// of the result is static.  If the view has no memory, the result has no memory.
template <class T, std::size_t Rows, std::size_t Columns>
constexpr auto rows_of(
    ::cuda::std::mdspan<T, ::cuda::std::extents<index_t, Rows, Columns>, ::cuda::std::layout_right, element_access<T>>
        v,
    index_t first, index_t count) {
  using part = ::cuda::std::mdspan<T, ::cuda::std::extents<index_t, ::cuda::std::dynamic_extent, Columns>,
                                   ::cuda::std::layout_right, element_access<T>>;
  return part(v.data_handle() != nullptr ? v.data_handle() + first * v.extent(1) : nullptr,
              typename part::extents_type(count, v.extent(1)));
}

/// Returns the transpose of a view as a matrix, over the same memory.
template <class View>
constexpr matrix<typename View::element_type> transposed(View v) {
  auto const m = as_matrix(v);
  return make_matrix(m.data_handle(), m.extent(1), m.extent(0), m.stride(1), m.stride(0));
}

namespace detail {
/// Returns true if [first, first + count) lies in [0, all).  Computes no sum that could overflow.
constexpr bool lies_within(index_t first, index_t count, index_t all) {
  return first >= 0 && count >= 0 && first <= all && count <= all - first;
}
inline std::string block_text(char const* what, index_t first, index_t count, index_t all) {
  return std::string(what) + ": " + std::to_string(count) + " from " + std::to_string(first) +
         " on, expected a block within " + std::to_string(all);
}
}  // namespace detail

/// Returns columns [first, first + count) of a matrix.
template <class View>
constexpr matrix<typename View::element_type> column_block(View v, index_t first, index_t count) {
  auto const m = as_matrix(v);
  TRIAD_EXPECTS(detail::lies_within(first, count, m.extent(1)),
                detail::block_text("column_block", first, count, m.extent(1)));
  return make_matrix(m.data_handle() + first * m.stride(1), m.extent(0), count, m.stride(0), m.stride(1));
}

/// Returns rows [first, first + count) of a matrix.
template <class View>
constexpr matrix<typename View::element_type> row_block(View v, index_t first, index_t count) {
  auto const m = as_matrix(v);
  TRIAD_EXPECTS(detail::lies_within(first, count, m.extent(0)),
                detail::block_text("row_block", first, count, m.extent(0)));
  return make_matrix(m.data_handle() + first * m.stride(0), count, m.extent(1), m.stride(0), m.stride(1));
}

/// Returns true if two views of the same rank have the same extents.
template <class A, class B>
constexpr bool same_shape(A const& a, B const& b) {
  static_assert(A::rank() == B::rank());
  for (std::size_t r = 0; r < A::rank(); ++r)
    if (a.extent(r) != b.extent(r)) return false;
  return true;
}

namespace detail {
/// Returns a text such as "(3, 4)".
inline std::string extents_text(index_t const* extents, std::size_t rank) {
  std::string text = "(";
  for (std::size_t r = 0; r < rank; ++r) text += (r == 0 ? "" : ", ") + std::to_string(extents[r]);
  return text + ")";
}
[[noreturn]] inline void shape_violated(char const* operation, char const* what, index_t const* got,
                                        index_t const* want, std::size_t rank, char const* file, int line) {
  violated(std::string(operation) + ": " + what + " is " + extents_text(got, rank) + ", expected " +
               extents_text(want, rank),
           file, line);
}
}  // namespace detail

/// If the shape of the view is not `want`, throws "OPERATION: WHAT is (3, 4), expected (3, 5)", with the file and line
/// of the call.
template <class View>
constexpr void expect_shape(char const* operation, char const* what, View const& view,
                            index_t const (&want)[View::rank()], char const* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
  bool same = true;
  for (std::size_t r = 0; r < View::rank(); ++r) same = same && view.extent(r) == want[r];
  if (same) return;
  index_t got[View::rank()]{};
  for (std::size_t r = 0; r < View::rank(); ++r) got[r] = view.extent(r);
  detail::shape_violated(operation, what, got, want, View::rank(), file, line);
}

/// If the two views differ in shape, throws with a message as in expect_shape().
template <class View, class Other>
constexpr void expect_same_shape(char const* operation, char const* what, View const& view, Other const& other,
                                 char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
  static_assert(View::rank() == Other::rank());
  if (same_shape(view, other)) return;
  index_t got[View::rank()]{}, want[View::rank()]{};
  for (std::size_t r = 0; r < View::rank(); ++r) {
    got[r] = view.extent(r);
    want[r] = other.extent(r);
  }
  detail::shape_violated(operation, what, got, want, View::rank(), file, line);
}

/// Throws if the columns of a matrix are not contiguous, that is, if its column stride is not 1.
template <class View>
constexpr void expect_unit_stride(char const* operation, char const* what, View const& view,
                                  char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (view.stride(1) != 1)
    violated(std::string(operation) + ": " + what + " has a column stride of " + std::to_string(view.stride(1)) +
                 ", expected 1",
             file, line);
}

/// Returns true if both extents are static and differ.  Operations use this function in static assertions.
template <class A, std::size_t RankA, class B, std::size_t RankB>
constexpr bool extents_clash() {
  constexpr auto a = A::static_extent(RankA), b = B::static_extent(RankB);
  constexpr auto unknown = static_cast<std::size_t>(dyn);
  return a != unknown && b != unknown && a != b;
}

}  // namespace triad
