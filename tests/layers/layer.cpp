// Tests functions that all layers share. They return the states in an input, the number of columns of an input, and the
// options for planning memory.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/layer.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/layers/linear.hpp"

namespace layers_layer_tests {

using namespace triad;

struct square_layer {
  using planned_with = row_dims;
  static constexpr index_t width() { return 4; }
};
struct narrowing_layer {
  static constexpr index_t in() { return 6; }
  static constexpr index_t out() { return 2; }
};
struct widening_layer {  // like an embedding, it has an input without columns
  static constexpr index_t width() { return 5; }
  static constexpr index_t out() { return 7; }
};

static_assert(std::is_same_v<layer_dims<square_layer>, row_dims> &&
              std::is_same_v<layer_dims<narrowing_layer>, graph_dims>);
static_assert(columns_in(square_layer{}) == 4 && columns_out(square_layer{}) == 4);
static_assert(columns_in(narrowing_layer{}) == 6 && columns_out(narrowing_layer{}) == 2);
static_assert(columns_in(widening_layer{}) == 5 && columns_out(widening_layer{}) == 7);
static_assert(rows_wanted(9, 0) == 9 && rows_wanted(9, 3) == 3);
static_assert(row_dims(graph_dims{1, 9, 3, 27, 3}).rows == 9);
// Columns clash only if both numbers of columns are static and different.
static_assert(detail::columns_clash<tensor<float, dyn, 3>, tensor<float, dyn, 4>>() &&
              !detail::columns_clash<tensor<float, dyn, 3>, tensor<float, dyn, dyn>>() &&
              !detail::columns_clash<tensor<float, 3, dyn>, tensor<float, 4, dyn>>());

static_assert(layer<linear<float>> && layer<linear<double, 2, 3>> && !layer<int> && !layer<tensor<float, dyn, dyn>>);

TEST_CASE("an input with another state keeps its graphs and masks, and a view is its own state") {
  test::ragged const graphs({2, 1});
  std::vector<double> const x(5 * 3), other(5 * 3);
  std::vector<std::uint8_t> const masked(9);
  using state = tensor<double const, dyn, dyn>;
  edge_input<double, dyn> const in{state(x.data(), 5, 3), graphs.batch(), {make_vec(masked.data(), 9)}};
  auto const now = with_state(in, state(other.data(), 5, 3));
  CHECK(state_of(now).data_handle() == other.data());
  CHECK(now.graphs.size.data_handle() == in.graphs.size.data_handle());
  CHECK(now.mask.masked.data_handle() == masked.data());
  CHECK(state_of(in).data_handle() == x.data());
  static_assert(std::is_same_v<state_of_t<edge_input<double, dyn>>, state> && std::is_same_v<state_of_t<state>, state>);
  CHECK(with_state(state(x.data(), 5, 3), state(other.data(), 5, 3)).data_handle() == other.data());
}

}  // namespace layers_layer_tests
