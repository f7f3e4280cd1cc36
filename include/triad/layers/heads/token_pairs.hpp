// Ordered pairs of tokens, child and parent, by the rows where they are found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/mdspan.hpp"

namespace triad {

/// Pairs that are asked about; a root's is (i, i).  Both tokens are of one sentence.
struct token_pairs {
  vec<index_t const> edge{nullptr, 0};    // (pairs) row of the edge (child, parent)
  vec<index_t const> child{nullptr, 0};   // (pairs) row of the token
  vec<index_t const> parent{nullptr, 0};  // (pairs)

  constexpr index_t count() const { return edge.extent(0); }
};

}  // namespace triad
