// Helpers for a table with one row that is not learned, such as the vector of the padding token.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/views.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/elementwise.hpp"

namespace triad {

/// `table` (v, d) is the gradient of a learned table.  Calls add(), which adds to `table`.  Afterwards row `fixed` has
/// the values that it had before the call.  Other uses of the table may have added to this row earlier.  If `fixed` is
/// negative, add() may change all rows.
template <backend Ex, class Table, class Add>
void add_but_row(Ex& ex, arena& scratch, Table table, index_t fixed, Add&& add) {
  if (fixed < 0) return add();
  auto const frame = scratch.open();
  auto const row = make_vec(table.data_handle() + fixed * table.extent(1), table.extent(1));
  auto const before = scratch.template make<vec<element_t<Table>>>(table.extent(1));
  transform(ex, unchanged{}, row, before);
  add();
  transform(ex, unchanged{}, before, row);
}

namespace detail {
/// Throws unless `fixed` is below `tokens`.  `owner` is the name of the model, for the message.
inline void expect_fixed_token(char const* owner, index_t fixed, index_t tokens, char const* kind = "tokens") {
  TRIAD_EXPECTS(fixed < tokens, std::string(owner) + " fixed token is " + std::to_string(fixed) + ", expected below " +
                                    std::to_string(tokens) + ", the " + kind);
}
}  // namespace detail

}  // namespace triad
