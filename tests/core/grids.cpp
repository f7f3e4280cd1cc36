// Tests the sizes of batches of grids, and that a batch of grids lists all of its views.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/grids.hpp"

#include <array>

#include "tests/catch.hpp"
#include "tests/ragged_grids.hpp"
#include "tests/replay_number.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/batch_views.hpp"

namespace core_grids_tests {

using namespace triad;
using test::replay_number;

constexpr std::array sizes{&grid_dims::graphs, &grid_dims::rows,     &grid_dims::columns,    &grid_dims::cells,
                           &grid_dims::pairs,  &grid_dims::max_rows, &grid_dims::max_columns};
constexpr std::array views{&grid_batch::rows,         &grid_batch::columns,    &grid_batch::row_begin,
                           &grid_batch::column_begin, &grid_batch::cell_begin, &grid_batch::pair_begin};

bool same_dims(grid_dims const& a, grid_dims const& b) {
  for (auto member : sizes)
    if (a.*member != b.*member) return false;
  return true;
}

TEST_CASE("sizes of grids add, grow to hold both, and fit where no part is larger") {
  CHECK(same_dims(grid_of(3, 2), {1, 3, 2, 6, 4, 3, 2}));
  auto const sum = grid_of(3, 2) + grid_of(1, 4), most = larger(sum, grid_of(5, 1));
  CHECK(same_dims(sum, {2, 4, 6, 10, 20, 3, 4}));
  CHECK(same_dims(most, {2, 5, 6, 10, 20, 5, 4}));
  CHECK((fits(sum, most) && fits(grid_of(5, 1), most) && fits({}, grid_of(0, 0))));
  for (auto member : sizes) {
    auto more = most;
    ++(more.*member);
    CHECK_FALSE(fits(more, most));
  }
  CHECK(triad::detail::dims_text(grid_of(3, 2)) ==
        "1 graphs, 3 tokens, 2 nodes, 6 cells, 4 pairs of nodes, 3 tokens in the longest, 2 nodes in the largest");
}

TEST_CASE("a batch of grids measured without memory has a number for each grid in each of its views") {
  test::ragged_grids const grids({{3, 2}, {0, 1}, {2, 0}});
  auto const bare = without_memory(grids.batch());
  for (auto member : views) {
    CHECK((bare.*member).data_handle() == nullptr);
    CHECK((bare.*member).extent(0) == 3);
  }
  CHECK(same_dims(bare.dims, grids.dims));
  CHECK(upload_bytes(grids.batch()) == 6 * 128);  // each view has three numbers
}

TEST_CASE("two batches of grids are one step only where all sizes and views are the same") {
  test::ragged_grids const grids({{3, 2}, {0, 1}}), others({{3, 2}, {0, 1}});
  auto const g = grids.batch();
  auto const number = replay_number(g);
  CHECK(replay_number(grids.batch()) == number);
  for (auto member : sizes) {
    auto other = g;
    ++(other.dims.*member);
    CHECK(replay_number(other) != number);
  }
  for (auto member : views) {
    auto other = g;
    other.*member = others.batch().*member;
    CHECK(replay_number(other) != number);
  }
}

}  // namespace core_grids_tests
