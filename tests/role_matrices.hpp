// Roles, and the matrices of car, cdr and cons for these roles, for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "triad/layers/tree/interpreter.hpp"
#include "triad/tree/shift.hpp"

namespace triad::test {

/// Roles, and the matrices of all arguments of operations: first D_c, then E_c.
template <class T>
struct some_maps {
  index_t branching, count, width;
  std::vector<T> roles, maps;

  some_maps(tree_positions<> where, bool canonical, index_t role_width = 0)
      : branching(where.branching()),
        count(where.count()),
        width(role_width > 0 ? role_width : count),
        roles(static_cast<std::size_t>(count * width)),
        maps(static_cast<std::size_t>(2 * branching * width * width)) {
    auto const of = make_matrix(roles.data(), count, width, width);
    if (canonical)
      unit_rows(of);
    else
      random_orthonormal(9, of);
    make_shifts_both_ways(where, tensor<T const, dyn, dyn>(roles.data(), count, width),
                          tensor<T, dyn, dyn, dyn>(maps.data(), 2 * branching, width, width));
  }
  matrix_interpreter<T> interpreter(bool learned = false) const {
    return {branching,
            count,
            width,
            learned,
            tensor<T const, dyn, dyn>(roles.data(), count, width),
            tensor<T const, dyn, dyn, dyn>(maps.data(), 2 * branching, width, width)};
  }
};

}  // namespace triad::test
