// What a machine did with one tree: at each step the choices it made, softly, and the tree it wrote.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "triad/tree/symbol_tree.hpp"

namespace tree_transforms {

using triad::index_t;
using triad::numbered_tree;

enum class operation { car, cdr, cons };

inline constexpr char const* name_of(operation o) {
  constexpr std::array<char const*, 3> names{"CAR", "CDR", "CONS"};
  return names[static_cast<std::size_t>(o)];
}

/// Columns of a step's argument weights.
enum class argument { car, cdr, left, right };

/// The arguments that an operation has.
inline std::span<argument const> arguments_of(operation o) {
  static constexpr std::array<argument, 4> all{argument::car, argument::cdr, argument::left, argument::right};
  if (o == operation::cons) return std::span(all).subspan(2, 2);
  return std::span(all).subspan(o == operation::car ? 0 : 1, 1);
}

/// Step k chooses among trees 0 .. k, of which 0 is the input, and writes tree k + 1.
struct traced_step {
  std::array<double, 3> operations{};              // weights of car, cdr, cons
  std::vector<std::array<double, 4>> arguments{};  // weight of every tree so far, for each argument
  index_t root = 0;                                // the label that the root of cons has most of
  double root_score = 0;                           // how much of it
  numbered_tree tree{};                            // written, where that was asked for

  operation most_likely() const {
    return static_cast<operation>(std::max_element(operations.begin(), operations.end()) - operations.begin());
  }
  double weight(operation o) const { return operations[static_cast<std::size_t>(o)]; }
  double weight(argument a, index_t tree_number) const {
    return arguments[static_cast<std::size_t>(tree_number)][static_cast<std::size_t>(a)];
  }
  /// The tree with the largest weight, the first of several.
  index_t most_likely(argument a) const {
    index_t best = 0;
    for (index_t l = 1; l < static_cast<index_t>(arguments.size()); ++l)
      if (weight(a, l) > weight(a, best)) best = l;
    return best;
  }
};

using trace = std::vector<traced_step>;

}  // namespace tree_transforms
