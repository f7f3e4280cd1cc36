// Tests states of pairs of nodes: their formula for every pair, their gradient, and names of parameters.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/pair_states.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_pair_states_tests {

using namespace triad;
using layer_type = pair_states<double>;
using matrix_of = tensor<double, dyn, dyn>;

constexpr index_t d = 3, relations = 4;

struct setting {
  test::ragged graphs{{3, 1, 2}};
  index_t nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  std::vector<index_t> relation, self;
  layer_type layer{extents<dyn>(d), relations};

  setting() {
    for (auto n : graphs.size)
      for (index_t i = 0; i < n; ++i) {
        self.push_back(static_cast<index_t>(relation.size()) + i);
        for (index_t j = 0; j < n; ++j) relation.push_back((2 * i + j) % relations);
      }
  }
  /// Computes the states.  If d_y is not null, also computes the gradients, and overwrites d_x.
  template <class Parameters>
  std::vector<double> run(Parameters& p, std::vector<double> const& x, std::vector<double> const* d_y = nullptr,
                          std::vector<double>* d_x = nullptr) const {
    reference::backend ex;
    node_pair_dims const dims(graphs.dims);
    pair_states_input<double, dyn> const in{
        {tensor<double const, dyn, dyn>(x.data(), nodes, d), graphs.batch(), make_vec(relation.data(), rows)},
        make_vec(self.data(), nodes)};
    test::spoiled_memory const memory([&](arena& a) { return layer.plan_saved(a, dims); });
    auto place = memory.place();
    auto const saved = layer.plan_saved(place, dims);
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      layer.forward(backend, c, p.values(), in, saved);
      if (d_y == nullptr) return;
      auto dz = *d_y;
      layer.backward(backend, c, p.values(), in, saved, matrix_of(dz.data(), rows, d), matrix_of(d_x->data(), nodes, d),
                     p.gradients());
    });
    return {saved.y.data_handle(), saved.y.data_handle() + saved.y.size()};
  }
};

TEST_CASE("the state of a pair has the vectors of both nodes, their product, the relation's, and a node's own") {
  setting const s;
  parameter_set<layer_type, reference::backend> p(s.layer, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const x = test::random_values(s.nodes * d, 5);
  auto const y = s.run(p, x);
  auto const w = p.values();
  auto const mapped = [&](index_t map, index_t node, index_t k) {
    double sum = w.maps.all.bias(map * d + k);
    for (index_t c = 0; c < d; ++c)
      sum += w.maps.all.weight(map * d + k, c) * x[static_cast<std::size_t>(node * d + c)];
    return sum;
  };
  index_t row = 0, first = 0;
  bool some_positive = false;
  for (auto n : s.graphs.size) {
    for (index_t i = first; i < first + n; ++i)
      for (index_t j = first; j < first + n; ++j, ++row)
        for (index_t k = 0; k < d; ++k) {
          double z = mapped(0, i, k) + mapped(1, j, k) + mapped(2, i, k) * mapped(3, j, k) +
                     w.relations(s.relation[static_cast<std::size_t>(row)], k);
          if (i == j) z += mapped(4, i, k);
          CHECK_THAT(y[static_cast<std::size_t>(row * d + k)], test::WithinAbs(std::max(z, 0.0), 1e-12));
          some_positive = some_positive || z > 0;
        }
    first += n;
  }
  CHECK(some_positive);
}

TEST_CASE("states of pairs have the gradient of their value") {
  setting const s;
  auto const d_y = test::random_values(s.rows * d, 3);
  CHECK_GRADIENT(test::check_use(
      s.layer, {{"x", test::random_values(s.nodes * d, 1)}}, [&](auto& parameters, variables const& at, variables* g) {
        return test::product(s.run(parameters, at[1].values, g ? &d_y : nullptr, g ? &(*g)[1].values : nullptr), d_y);
      }));
}

TEST_CASE("the layer of states of pairs lists its parameters by name") {
  CHECK(test::paths_of(setting().layer) ==
        std::vector<std::string>{"left.weight", "left.bias", "right.weight", "right.bias", "left_factor.weight",
                                 "left_factor.bias", "right_factor.weight", "right_factor.bias", "self.weight",
                                 "self.bias", "relations"});
}

}  // namespace layers_pair_states_tests
