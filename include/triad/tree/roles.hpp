// Role vectors and filler vectors.  The vectors are orthonormal rows: random rows drawn from a seed, unit vectors, or
// rows that the user provides.
// SPDX-License-Identifier: Apache-2.0
//
//   roles    R (N, r)   R R' = 1, so N <= r   one row for each position, breadth first; row 0 is the root's
//   fillers  F (V, f)                         one row for each label number; row 0 is zero, for the empty node
//
// Random rows are the rows of the unit matrix after random plane rotations.  Each round of rotations pairs all columns
// at random and rotates each pair by a random angle.  After any number of rounds, the rows are orthonormal up to
// rounding.  After a few times log2(r) rounds, the entries are distributed like the entries of a uniformly drawn
// orthonormal matrix (Kac's walk).  A round takes 6 N r flops.  Gram-Schmidt would take 2 N^2 r flops in all.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/random.hpp"
#include "triad/core/views.hpp"
#include "triad/tree/rows.hpp"

namespace triad {

/// The rows of R count as orthonormal if no entry of |R R' - 1| is larger than this value.
template <class T>
inline constexpr double orthonormal_tolerance = sizeof(T) > 4 ? 1e-10 : 1e-5;

namespace detail {

/// The two columns and the angle of one plane rotation.
struct rotation {
  index_t first, second;
  double cosine, sine;
};

/// Draws the rotations of one round.  Every column is in one pair.  If the number of columns is odd, one column has no
/// partner.  Uses only arithmetic and the square root, so that every machine draws the same rotations.
inline void draw_round(random_stream& stream, std::vector<index_t>& order, std::vector<rotation>& round) {
  stream.shuffle(order);
  round.clear();
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
    double x = 0, y = 0, square = 0;
    while (square < 1e-4 || square > 1) {
      x = stream.uniform(-1, 1);
      y = stream.uniform(-1, 1);
      square = x * x + y * y;
    }
    double const length = std::sqrt(square);
    round.push_back({order[i], order[i + 1], x / length, y / length});
  }
}

}  // namespace detail

/// Writes the first rows of the unit matrix.
template <class T>
void unit_rows(matrix<T> rows) {
  for (index_t i = 0; i < rows.extent(0); ++i)
    for (index_t j = 0; j < rows.extent(1); ++j) rows(i, j) = i == j ? T(1) : T(0);
}

/// Draws random orthonormal rows.  The same seed and shape give the same rows on every machine.  If there are more rows
/// than columns, the columns are orthonormal instead.
template <class T>
void random_orthonormal(philox_key seed, matrix<T> rows) {
  if (rows.extent(0) > rows.extent(1)) return random_orthonormal(seed, transposed(rows));
  index_t const n = rows.extent(0), width = rows.extent(1);
  int rounds = 8;  // 8 rounds, and 4 more for every doubling of the width
  for (index_t w = 1; w < width; w *= 2) rounds += 4;
  std::vector<double> values(static_cast<std::size_t>(n * width));
  unit_rows(make_matrix(values.data(), n, width, width));
  std::vector<index_t> order(static_cast<std::size_t>(width));
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = static_cast<index_t>(c);
  std::vector<detail::rotation> round;
  random_stream stream(seed, 0x726f6c6573);
  for (int k = 0; k < rounds; ++k) {
    detail::draw_round(stream, order, round);
    for (index_t i = 0; i < n; ++i) {
      double* const row = values.data() + i * width;
      for (auto const& r : round) {
        double const a = row[r.first], b = row[r.second];
        row[r.first] = r.cosine * a - r.sine * b;
        row[r.second] = r.sine * a + r.cosine * b;
      }
    }
  }
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < width; ++j) rows(i, j) = static_cast<T>(values[static_cast<std::size_t>(i * width + j)]);
}

namespace detail {
inline void expect_wide_enough(index_t labels, index_t width) {
  TRIAD_EXPECTS(labels <= width, "fillers: " + std::to_string(labels) + " orthonormal labels of width " +
                                     std::to_string(width) + ", expected a width of " + std::to_string(labels) +
                                     " or more; make them wider");
}
}  // namespace detail

/// Draws random fillers (V, f).  Row 0 is zero, and the other rows are orthonormal.  Throws contract_violation if V - 1
/// > f.
template <class T>
void random_fillers(philox_key seed, matrix<T> fillers) {
  index_t const labels = fillers.extent(0) - 1, width = fillers.extent(1);
  detail::expect_wide_enough(labels, width);
  for (index_t j = 0; labels >= 0 && j < width; ++j) fillers(0, j) = T(0);
  if (labels > 0) random_orthonormal(seed, row_block(fillers, 1, labels));
}

/// Writes unit vectors as fillers (V, f): the filler of label number v is unit vector v - 1.  Row 0 is zero.  Throws
/// contract_violation if V - 1 > f.
template <class T>
void one_hot_fillers(matrix<T> fillers) {
  detail::expect_wide_enough(fillers.extent(0) - 1, fillers.extent(1));
  for (index_t v = 0; v < fillers.extent(0); ++v)
    for (index_t j = 0; j < fillers.extent(1); ++j) fillers(v, j) = v == j + 1 ? T(1) : T(0);
}

/// Throws data_error with the numbers of two rows if the rows from `first` on are not orthonormal within
/// orthonormal_tolerance.
template <class T>
void expect_orthonormal(tensor<T const, dyn, dyn> rows, std::string const& name, index_t first = 0) {
  index_t const width = rows.extent(1);
  for (index_t i = first; i < rows.extent(0); ++i)
    for (index_t j = first; j <= i; ++j) {
      double const found = static_cast<double>(detail::dot(&rows(i, 0), &rows(j, 0), width)), expected = i == j ? 1 : 0;
      if (std::abs(found - expected) <= orthonormal_tolerance<T>) continue;
      char text[64];
      std::snprintf(text, sizeof text, "%.9g; expected %.0f within %.0e", found, expected, orthonormal_tolerance<T>);
      throw data_error(name + " are not orthonormal: rows " + std::to_string(j) + " and " + std::to_string(i) +
                       " have inner product " + text);
    }
}

}  // namespace triad
