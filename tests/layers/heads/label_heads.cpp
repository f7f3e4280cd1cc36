// Tests the heads over states of tokens. There is one map for each kind of label. The gradient of the states is the sum
// of the gradients through all maps.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/label_heads.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_label_heads_tests {

using namespace triad;
using matrix_of = tensor<double, dyn, dyn>;
using read = tensor<double const, dyn, dyn>;

// A test of parameters needs value_type, which models define and heads do not.
struct layer_type : label_heads<double> {
  using value_type = double;
};

constexpr index_t nodes = 3, d = 4;
constexpr label_counts counts{2, 1, 4, 3};

// The results of the four maps, one after another in one array.
struct all_logits {
  std::vector<double> values = std::vector<double>(64);
  label_views<double> views;
  all_logits() : views(planned()) {}
  label_views<double> planned() {
    values.assign(128, 0);
    arena place(values.data(), values.size() * sizeof(double));
    return label_views<double>::plan(place, nodes, counts);
  }
};

TEST_CASE("each kind of label has logits of its own map") {
  all_logits const y;
  CHECK((y.views.role.extent(1) == 2 && y.views.category.extent(1) == 1 && y.views.noun_type.extent(1) == 4 &&
         y.views.verb.extent(1) == 3));
  layer_type const heads{{d, counts}};
  CHECK(test::paths_of(heads) == std::vector<std::string>{"role.weight", "role.bias", "category.weight",
                                                          "category.bias", "noun_type.weight", "noun_type.bias",
                                                          "verb.weight", "verb.bias"});
  parameter_set<layer_type, reference::backend> p(heads, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  test::some_rows const x(nodes, d);
  reference::backend ex;
  heads.forward(ex, {}, p.values(), x.view(), y.views);
  auto const w = p.values();
  auto const check = [&](auto const& map, auto const& logits) {
    for (index_t i = 0; i < nodes; ++i)
      for (index_t k = 0; k < logits.extent(1); ++k) {
        double sum = map.bias(k);
        for (index_t f = 0; f < d; ++f) sum += map.weight(k, f) * x.view()(i, f);
        CHECK_THAT(logits(i, k), test::WithinAbs(sum, 1e-14));
      }
  };
  check(w.role, y.views.role);
  check(w.category, y.views.category);
  check(w.noun_type, y.views.noun_type);
  check(w.verb, y.views.verb);
}

TEST_CASE("the verb is read from the words where there are some, all else from the states") {
  layer_type const heads{{d, counts}};
  parameter_set<layer_type, reference::backend> p(heads, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  test::some_rows const x(nodes, d, 1), words(nodes, d, 2);
  reference::backend ex;
  all_logits const of_states, of_words, of_both;
  heads.forward(ex, {}, p.values(), x.view(), of_states.views);
  heads.forward(ex, {}, p.values(), words.view(), of_words.views);
  heads.forward(ex, {}, p.values(), x.view(), of_both.views, words.view());
  auto const listed = [](auto view) {
    return std::vector<double>(view.data_handle(), view.data_handle() + view.size());
  };
  CHECK(listed(of_both.views.verb) == listed(of_words.views.verb));
  CHECK(listed(of_both.views.verb) != listed(of_states.views.verb));
  for (auto part : {&label_views<double>::role, &label_views<double>::category, &label_views<double>::noun_type})
    CHECK(listed(of_both.views.*part) == listed(of_states.views.*part));
}

TEST_CASE("label heads have the gradient of their logits, with words and without") {
  layer_type const heads{{d, counts}};
  bool const with_words = GENERATE(false, true);
  CAPTURE(with_words);
  variables given{{"x", test::random_values(nodes * d, 1)}};
  if (with_words) given.push_back({"words", test::random_values(nodes * d, 3)});
  CHECK_GRADIENT(test::check_use(heads, given, [&](auto& parameters, variables const& at, variables* g) {
    reference::backend ex;
    all_logits const y;
    all_logits dy;
    dy.values = test::random_values(128, 2);
    arena place(dy.values.data(), dy.values.size() * sizeof(double));
    dy.views = label_views<double>::plan(place, nodes, counts);
    read const x(at[1].values.data(), nodes, d),
        words(with_words ? at[2].values.data() : nullptr, with_words ? nodes : 0, d);
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      heads.forward(backend, c, parameters.values(), x, y.views, words);
      if (g != nullptr)
        heads.backward(backend, c, parameters.values(), x, dy.views, matrix_of((*g)[1].values.data(), nodes, d),
                       parameters.gradients(), words,
                       with_words ? matrix_of((*g)[2].values.data(), nodes, d) : matrix_of());
    });
    double sum = 0;
    for (auto part : {&label_views<double>::role, &label_views<double>::category, &label_views<double>::noun_type,
                      &label_views<double>::verb})
      for (index_t i = 0; i < nodes; ++i)
        for (index_t k = 0; k < (y.views.*part).extent(1); ++k) sum += (y.views.*part)(i, k) * (dy.views.*part)(i, k);
    return sum;
  }));
}

}  // namespace layers_label_heads_tests
