// Tests initial values. The distribution depends on the tensor's name, and the numbers depend only on the seed and the
// path.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/initialize.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/layers/embedding.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/parameters.hpp"

namespace train_initialize_tests {

using namespace triad;

template <class T>
using model = test::two_layers<T>;
template <class T>
using set = parameter_set<model<T>, reference::backend>;

template <class View>
double largest(View v) {
  double most = 0;
  for (index_t i = 0; i < static_cast<index_t>(v.size()); ++i)
    most = std::max(most, std::abs(static_cast<double>(v.data_handle()[i])));
  return most;
}

/// A layer with one parameter: the weights of a mixture of five values.
struct mixture {
  using value_type = double;
  template <class S>
  struct fields {
    vec<S> combination;
    template <class F>
    void each(F&& f) {
      f("combination", combination);
    }
  };
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(5)};
  }
};

TEST_CASE("combination begin equal, and add up to one") {
  parameter_set<mixture, reference::backend> parameters(mixture{});
  initialize(parameters.mutable_values(), 3);
  for (index_t i = 0; i < 5; ++i) CHECK(parameters.values().combination(i) == 0.2);
}

TEST_CASE("a set of parameters is given the values that its fields are given") {
  set<double> by_set(model<double>(10, 6, 9)), by_fields(model<double>(10, 6, 9));
  CHECK_FALSE(by_set.initialized());
  initialize(by_set, 3);
  initialize(by_fields.mutable_values(), 3);
  CHECK(by_set.initialized());
  auto const a = by_set.flat_values(), b = by_fields.flat_values();
  for (index_t i = 0; i < a.extent(0); ++i) REQUIRE(a(i) == b(i));
  initialize(by_set, 3, [](std::string const&) { return initializer::constant(2); });
  CHECK(by_set.values().first.weight(0, 0) == 2);
}

TEST_CASE("gains are one, biases of norms zero, matrices and other biases fill their bounds") {
  set<double> parameters(model<double>(100, 60, 90));
  initialize(parameters.mutable_values(), 3);
  auto const v = parameters.values();
  CHECK((v.norm.gain(0) == 1.0 && v.norm.gain(99) == 1.0 && largest(v.norm.bias) == 0.0));
  double const xavier = std::sqrt(6.0 / 160), line = 1 / std::sqrt(100.0);
  CHECK((largest(v.first.weight) <= xavier && largest(v.first.weight) > 0.99 * xavier));
  CHECK((largest(v.first.bias) <= line && largest(v.first.bias) > 0.8 * line));
  double mean = 0;
  for (index_t r = 0; r < 60; ++r)
    for (index_t c = 0; c < 100; ++c) mean += v.first.weight(r, c) / 6000;
  CHECK(std::abs(mean) < 5 * xavier / std::sqrt(3 * 6000.0));
}

TEST_CASE("a rule chosen by path replaces the rule by name") {
  set<double> parameters(model<double>(100, 60, 90));
  initialize(parameters.mutable_values(), 3, [](std::string const& path) {
    if (path == "second.weight") return initializer::linear_uniform();
    if (path == "first.bias") return initializer::constant(0.25);
    if (path == "norm.gain") return initializer::uniform(2, 3);
    return initializer::by_name();
  });
  auto const v = parameters.values();
  CHECK(largest(v.second.weight) <= 1 / std::sqrt(60.0));
  CHECK((v.first.bias(0) == 0.25 && v.first.bias(59) == 0.25));
  CHECK((v.norm.gain(5) >= 2 && v.norm.gain(5) < 3));
  CHECK_THROWS_AS(
      initialize(parameters.mutable_values(), 3, [](std::string const&) { return initializer::xavier_uniform(); }),
      contract_violation);
}

TEST_CASE("one seed gives one model in every type, and the same tensor beside other layers") {
  set<double> wide(model<double>(4, 5, 3));
  set<float> single(model<float>(4, 5, 3));
  set<double> other(model<double>(4, 5, 70));  // the last layer is different
  initialize(wide.mutable_values(), 8);
  initialize(single.mutable_values(), 8);
  initialize(other.mutable_values(), 8);
  for (index_t r = 0; r < 5; ++r)
    for (index_t c = 0; c < 4; ++c) {
      CHECK(static_cast<float>(wide.values().first.weight(r, c)) == single.values().first.weight(r, c));
      CHECK(wide.values().first.weight(r, c) == other.values().first.weight(r, c));
    }
  set<double> reseeded(model<double>(4, 5, 3));
  initialize(reseeded.mutable_values(), 9);
  CHECK(wide.values().first.weight(0, 0) != reseeded.values().first.weight(0, 0));
  CHECK(wide.values().first.bias(0) != wide.values().second.bias(0));
}

TEST_CASE("an embedding is a matrix") {
  parameter_set<embedding<double>, reference::backend> parameters(embedding<double>{extents<dyn, dyn>(30, 20)});
  initialize(parameters.mutable_values(), 1);
  double const bound = std::sqrt(6.0 / 50);
  CHECK((largest(parameters.values().table) <= bound && largest(parameters.values().table) > 0.98 * bound));
}

TEST_CASE("the hash of a path is FNV-1a") {
  CHECK(path_hash("") == 0xcbf29ce484222325u);
  CHECK(path_hash("a") == 0xaf63dc4c8601ec8cu);
}

}  // namespace train_initialize_tests
