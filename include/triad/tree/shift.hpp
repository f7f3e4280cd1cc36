// The matrices that take and graft children, for any orthonormal roles.  Each child has one matrix, which is computed
// once for a set of roles.
// SPDX-License-Identifier: Apache-2.0
//
//   D_c = sum_x r_x r_cx'    (r, r), sum over the positions x above the last level; cx is the position in the whole
//                            tree of the node that has position x in child c's tree
//   E_c = D_c'               grafting is the transpose of taking a child
//
// D_c E_c = sum_x r_x r_x'. This matrix is the identity on trees with an empty last level.
//
// Canonical roles are unit vectors.  With canonical roles, D_c copies one block for each level (tree/positions.hpp), so
// no matrix is needed.
#pragma once

#include <vector>

#include "triad/core/arena.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/views.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/roles.hpp"

namespace triad {

namespace detail {

/// C (m, n) = sum over x < k of a(x)' b(x).  The row a(x) has m elements, and the row b(x) has n elements.  Computes C
/// in tiles of 4 x 16 sums.  The columns of a and b that a tile reads are first copied into buffers.
template <class T, class RowA, class RowB>
void sum_of_products(index_t k, RowA&& a, RowB&& b, T* c, index_t m, index_t n) {
  constexpr index_t tile_rows = 4, tile_columns = 16;
  std::vector<T> panel(static_cast<std::size_t>(k * tile_columns)), stripe(static_cast<std::size_t>(k * tile_rows));
  auto const pack = [k](auto&& row, index_t first, index_t columns, index_t room, std::vector<T>& into) {
    for (index_t x = 0; x < k; ++x) {
      T const* const from = row(x);
      for (index_t j = 0; j < room; ++j)
        into[static_cast<std::size_t>(x * room + j)] = j < columns ? from[first + j] : T(0);
    }
  };
  for (index_t j = 0; j < n; j += tile_columns) {
    index_t const columns = n - j < tile_columns ? n - j : tile_columns;
    pack(b, j, columns, tile_columns, panel);
    for (index_t i = 0; i < m; i += tile_rows) {
      index_t const rows = m - i < tile_rows ? m - i : tile_rows;
      pack(a, i, rows, tile_rows, stripe);
      T sums[tile_rows][tile_columns] = {};
      T const *left = stripe.data(), *right = panel.data();
      for (index_t x = 0; x < k; ++x, left += tile_rows, right += tile_columns)
        for (index_t p = 0; p < tile_rows; ++p)
          for (index_t q = 0; q < tile_columns; ++q) sums[p][q] += left[p] * right[q];
      for (index_t p = 0; p < rows; ++p)
        for (index_t q = 0; q < columns; ++q) c[(i + p) * n + j + q] = sums[p][q];
    }
  }
}

}  // namespace detail

/// Computes D_c for every child from the roles (N, r).  Overwrites shifts (b, r, r).
template <class T, index_t B, index_t D>
void make_shifts(tree_positions<B, D> const& positions, tensor<T const, dyn, dyn> roles,
                 tensor<T, dyn, dyn, dyn> shifts) {
  index_t const width = roles.extent(1), b = positions.branching();
  expect_extent("make_shifts", "roles", roles.extent(0), positions.count());
  expect_shape("make_shifts", "shifts", shifts, {b, width, width});
  index_t const parents = positions.level_begin(positions.depth() - 1);
  T const* const all = roles.data_handle();
  for (index_t c = 0; c < b; ++c)
    detail::sum_of_products(
        parents, [&](index_t x) { return all + x * width; },
        [&](index_t x) { return all + positions.child_source(c, x) * width; }, &shifts(c, 0, 0), width, width);
}

/// Computes D_c for every child from the roles (N, r), then E_c = D_c' for every child.  Overwrites maps (2 b, r, r).
template <class T, index_t B, index_t D>
void make_shifts_both_ways(tree_positions<B, D> const& positions, tensor<T const, dyn, dyn> roles,
                           tensor<T, dyn, dyn, dyn> maps) {
  index_t const b = positions.branching(), width = maps.extent(1);
  expect_extent("make_shifts_both_ways", "maps", maps.extent(0), 2 * b);
  make_shifts(positions, roles, tensor<T, dyn, dyn, dyn>(maps.data_handle(), b, width, maps.extent(2)));
  for (index_t c = 0; c < b; ++c)
    for (index_t i = 0; i < width; ++i)
      for (index_t j = 0; j < width; ++j) maps(b + c, j, i) = maps(c, i, j);
}

/// Roles and their matrices D_c, in memory that the caller provides.
template <class T>
struct role_maps {
  tensor<T, dyn, dyn> roles;        // (N, r)
  tensor<T, dyn, dyn, dyn> shifts;  // (b, r, r)

  template <index_t B, index_t D>
  static role_maps plan(arena& place, tree_positions<B, D> const& positions, index_t width) {
    auto const roles = place.make<tensor<T, dyn, dyn>>(positions.count(), width);
    return {roles, place.make<tensor<T, dyn, dyn, dyn>>(positions.branching(), width, width)};
  }
};

/// Fills `maps` with canonical roles: the role of position i is unit vector i.  If r > N, elements N .. r - 1 of every
/// role are zero.
template <class T, index_t B, index_t D>
void make_canonical(tree_positions<B, D> const& positions, role_maps<T> const& maps) {
  TRIAD_EXPECTS(maps.roles.extent(1) >= positions.count(),
                "make_canonical: roles of width " + std::to_string(maps.roles.extent(1)) + ", expected " +
                    std::to_string(positions.count()) + " or more, one for each position");
  unit_rows(as_matrix(maps.roles));
  detail::fill_row(maps.shifts.data_handle(), static_cast<index_t>(maps.shifts.size()), T(0));
  for (index_t c = 0; c < positions.branching(); ++c)
    for (index_t level = 0; level + 1 < positions.depth(); ++level) {
      auto const block = positions.child_block(c, level);
      for (index_t i = 0; i < block.size; ++i) maps.shifts(c, block.part + i, block.whole + i) = T(1);
    }
}

/// Fills `maps` with random orthonormal roles.
template <class T, index_t B, index_t D>
void make_random(tree_positions<B, D> const& positions, philox_key seed, role_maps<T> const& maps) {
  TRIAD_EXPECTS(maps.roles.extent(1) >= positions.count(),
                "make_random: roles of width " + std::to_string(maps.roles.extent(1)) + ", expected " +
                    std::to_string(positions.count()) + " or more, one for each position");
  random_orthonormal(seed, as_matrix(maps.roles));
  make_shifts<T>(positions, maps.roles, maps.shifts);
}

/// Computes the matrices D_c for roles that the caller has written to maps.roles.  Throws data_error if these roles are
/// not orthonormal.
template <class T, index_t B, index_t D>
void make_given(tree_positions<B, D> const& positions, role_maps<T> const& maps) {
  expect_orthonormal<T>(maps.roles, "roles");
  make_shifts<T>(positions, maps.roles, maps.shifts);
}

}  // namespace triad
