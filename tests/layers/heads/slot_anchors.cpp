// Tests the anchors of slots: which states their scores read, and their gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/slot_anchors.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/graph_sentences.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_slot_anchors_tests {

using namespace triad;
using read = tensor<double const, dyn, dyn>;
using states = tensor<double, dyn, dyn>;

constexpr index_t d = 3;

struct run {
  test::graph_sentences sentences{{2, 2, 3}, 2};
  sentence_graph_batch<double> in = sentences.loader.upload().first;
  slot_anchors<double> layer{extents<dyn>(d)};
  test::spoiled_memory memory{[this](arena& place) { return layer.plan_saved(place, in.dims()); }};
  slot_anchors<double>::saved saved;
  index_t cells = in.slot_grid.dims.cells, rows = 2 * cells + in.slot_grid.dims.rows, pairs = in.grid.dims.pairs,
          weights = in.grid.dims.cells;

  run() {
    auto place = memory.place();
    saved = layer.plan_saved(place, in.dims());
  }
};

TEST_CASE("a slot is anchored by the states of its edges to and from each token, or is absent by its own") {
  reference::backend ex;
  run r;
  parameter_set<slot_anchors<double>, reference::backend> p(r.layer, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const y = test::random_values(r.rows * d, 5);
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    r.layer.forward(backend, c, p.values(), r.in, read(y.data(), r.rows, d), vec<double const>(nullptr, 0), r.saved);
  });
  auto const w = p.values();
  auto const along = [&](auto const& map, index_t row) {
    double sum = 0;
    for (index_t k = 0; k < d; ++k) sum += map.weight(0, k) * y[static_cast<std::size_t>(row * d + k)];
    return sum;
  };
  auto const& g = r.in.slot_grid;
  for (index_t s = 0; s < g.dims.graphs; ++s)
    for (index_t k = 0; k < g.rows(s); ++k) {
      index_t const n = g.columns(s), slot = g.row_begin(s) + k;
      std::vector<double> score;
      double sum = 0;
      for (index_t c = 0; c < n; ++c) {
        index_t const cell = g.cell_begin(s) + k * n + c;
        score.push_back(std::exp(along(w.from_slot, cell) + along(w.to_slot, r.cells + cell)));
        sum += score.back();
      }
      double const none = std::exp(along(w.none, 2 * r.cells + slot) + w.none.bias(0));
      CHECK_THAT(r.saved.absent(slot), test::WithinAbs(none / (sum + none), 1e-12));
      for (index_t c = 0; c < n; ++c) {
        double const expected = score[static_cast<std::size_t>(c)] / (sum + none);
        CHECK_THAT(r.saved.anchor(g.cell_begin(s) + k * n + c), test::WithinAbs(expected, 1e-12));
        index_t const node = r.in.members(s) + k;
        CHECK(r.saved.mix(r.in.grid.cell_begin(s) + node * n + c) == r.saved.anchor(g.cell_begin(s) + k * n + c));
      }
    }
  // Token 3 is the third queried token of the first sentence.
  CHECK((r.saved.mix(2 * 4 + 3) == 1 && r.saved.mix(2 * 4 + 2) == 0));
}

TEST_CASE("anchors of slots have the gradient of their weights, with and without heads of lists") {
  for (bool lists : {false, true}) {
    CAPTURE(lists);
    run r;
    index_t const count = lists ? r.pairs : 0;
    auto const dmix = test::random_values(r.weights, 2);
    CHECK_GRADIENT(test::check_use(
        r.layer, {{"y", test::random_values(r.rows * d, 1)}, {"heads", test::random_values(count, 3)}},
        [&](auto& parameters, variables const& at, variables* g) {
          reference::backend ex;
          read const y(at[1].values.data(), r.rows, d);
          auto const heads = make_vec(at[2].values.data(), count);
          test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
            r.layer.forward(backend, c, parameters.values(), r.in, y, heads, r.saved);
            if (g != nullptr)
              r.layer.backward(backend, c, parameters.values(), r.in, y, heads, r.saved,
                               make_vec<double const>(dmix.data(), r.weights), make_vec((*g)[2].values.data(), count),
                               states((*g)[1].values.data(), r.rows, d), parameters.gradients());
          });
          double sum = 0;
          for (index_t i = 0; i < r.weights; ++i) sum += dmix[static_cast<std::size_t>(i)] * r.saved.mix(i);
          return sum;
        }));
  }
  CHECK(test::paths_of(slot_anchors<double>{extents<dyn>(d)}) ==
        std::vector<std::string>{"from_slot.weight", "to_slot.weight", "none.weight", "none.bias"});
}

}  // namespace layers_slot_anchors_tests
