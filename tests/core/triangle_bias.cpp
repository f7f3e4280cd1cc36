// Tests how many numbers a bias of triangles has, and where the number of each triangle is.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/triangle_bias.hpp"

#include <cstddef>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace core_triangle_bias_tests {

using namespace triad;

// Calls f(graph, head, i, l, j) for all places of a batch.
template <class F>
void each_place(test::ragged const& graphs, index_t heads, F&& f) {
  for (index_t graph = 0; graph < graphs.dims.graphs; ++graph)
    for (index_t c = 0; c < heads; ++c)
      for (index_t i = 0, n = graphs.size[static_cast<std::size_t>(graph)]; i < n; ++i)
        for (index_t l = 0; l < n; ++l)
          for (index_t j = 0; j < n; ++j) f(graph, c, i, l, j);
}

TEST_CASE("a bias has one number for each place along its axes, in the order of the axes") {
  index_t const heads = 2;
  for (auto const& sizes : {std::vector<index_t>{3, 3}, {2, 1, 4}})
    for (int set = sizes[0] == 3 ? 0 : 16; set < 32; ++set) {
      test::ragged const graphs(sizes);
      triangle_bias_axes const axes{(set & 16) != 0, (set & 8) != 0, (set & 4) != 0, (set & 2) != 0, (set & 1) != 0};
      CAPTURE(sizes, set);
      std::vector<int> numbers(static_cast<std::size_t>(axes.count(graphs.dims, heads)));
      triangle_bias<int> const bias{make_vec(numbers.data(), static_cast<index_t>(numbers.size())), axes};
      std::vector<std::vector<index_t>> place_of(numbers.size());
      bool inside = true, one_place = true;
      each_place(graphs, heads, [&](index_t graph, index_t c, index_t i, index_t l, index_t j) {
        auto const at = &bias.of_head(graphs.batch(), graph, c, heads).at(i, l, j) - numbers.data();
        if (at < 0 || at >= static_cast<std::ptrdiff_t>(numbers.size())) {
          inside = false;
          return;
        }
        std::vector<index_t> const place{axes.graphs ? graph : 0, axes.heads ? c : 0, axes.i ? i : 0, axes.l ? l : 0,
                                         axes.j ? j : 0};
        auto& known = place_of[static_cast<std::size_t>(at)];
        one_place = one_place && (known.empty() || known == place);
        known = place;
      });
      CHECK(inside);
      CHECK(one_place);
      bool ascending = true;
      for (std::size_t e = 1; e < place_of.size(); ++e) ascending = ascending && place_of[e - 1] < place_of[e];
      CHECK(ascending);  // so no number is left out, and none belongs to two places
      CHECK(axes.all() == (set == 31));
    }
}

TEST_CASE("no bias has no numbers, and no part of a head") {
  test::ragged const graphs({2});
  triangle_bias<float const> const none;
  CHECK(none.empty());
  CHECK(none.of_head(graphs.batch(), 0, 0, 1).data == nullptr);
}

TEST_CASE("a bias that all graphs and nodes share has numbers in a batch without graphs") {
  test::ragged const graphs(std::vector<index_t>{});
  triangle_bias_axes const axes{false, true, false, false, false};
  REQUIRE(axes.count(graphs.dims, 3) == 3);
  std::vector<int> numbers{7, 8, 9};
  triangle_bias<int> const bias{make_vec(numbers.data(), 3), axes};
  CHECK(bias.of_head(graphs.batch(), 0, 2, 3).at(0, 0, 0) == 9);
}

}  // namespace core_triangle_bias_tests
