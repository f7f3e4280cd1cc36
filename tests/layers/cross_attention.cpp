// Tests attention to another sequence, with its projections: gradients of both sides, names of parameters, and keys
// that are computed before the call.
//
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/cross_attention.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_cross_attention_tests {

using namespace triad;
using layer_type = cross_attention<double>;
using matrix_of = tensor<double, dyn, dyn>;
using read = tensor<double const, dyn, dyn>;

constexpr index_t d = 4, heads = 2, e = 6;

// Sequences of 3 tokens and of 1 token attend to sources of 2 and of 4 tokens. One token of a source is masked.
struct problem {
  test::ragged tokens{{3, 1}}, sources{{2, 4}};
  index_t rows = tokens.dims.nodes, source_rows = sources.dims.nodes;
  std::vector<double> x = test::random_values(rows * d, 1), source = test::random_values(source_rows * e, 2),
                      dy = test::random_values(rows * d, 3);
  std::vector<std::uint8_t> masked = std::vector<std::uint8_t>(6);
  double rate = 0;
  std::uint64_t step = 3;

  problem() { masked[4] = 1; }
  layer_type layer() const { return {extents<dyn, dyn>(d, heads), e, rate}; }
  cross_dims dims() const { return {row_dims(rows), source_rows}; }
  cross_input<double> input(std::vector<double> const& of_x, std::vector<double> const& of_source) const {
    return {read(of_x.data(), rows, d),
            nodes_of(tokens.batch()),
            {read(of_source.data(), source_rows, e), nodes_of(sources.batch()), make_vec(masked.data(), source_rows)}};
  }
  template <class Use>
  void with_saved(Use&& use) const {
    reference::backend ex;
    auto const l = layer();
    test::spoiled_memory const memory([&](arena& a) { return l.plan_saved(a, dims()); });
    auto place = memory.place();
    auto const saved = l.plan_saved(place, dims());
    call c;
    c.train = true;
    c.key = 5;
    c.step = &step;
    test::with_scratch(ex, c, [&](auto& backend, call const& now) { use(backend, now, l, saved); });
  }
};

TEST_CASE("cross-attention has the gradient of its value in what looks and in what is looked at") {
  for (double rate : {0.0, 0.3}) {
    CAPTURE(rate);
    problem p;
    p.rate = rate;
    CHECK_GRADIENT(test::check_use(
        p.layer(), {{"x", p.x}, {"source", p.source}}, [&](auto& parameters, variables const& at, variables* g) {
          std::vector<double> y(p.x.size());
          p.with_saved([&](auto& ex, call const& c, auto const& layer, auto const& saved) {
            auto const in = p.input(at[1].values, at[2].values);
            layer.forward(ex, c, parameters.values(), in, saved, matrix_of(y.data(), p.rows, d));
            if (g == nullptr) return;
            // dx is overwritten. The layer adds to the gradient of the source, because a decoder has many such layers.
            on_host(ex, [&] { std::fill((*g)[2].values.begin(), (*g)[2].values.end(), 0.0); });
            layer.backward(ex, c, parameters.values(), in, saved, read(p.dy.data(), p.rows, d),
                           matrix_of((*g)[1].values.data(), p.rows, d), parameters.gradients(), {},
                           matrix_of((*g)[2].values.data(), p.source_rows, e));
          });
          return test::product(y, p.dy);
        }));
  }
}

TEST_CASE("keys and values that were made before give the same, and what is masked is not looked at") {
  problem p;
  parameter_set<layer_type, reference::backend> parameters(p.layer(), holding::values);
  auto const values = test::random_values(parameters.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), parameters.flat_values().data_handle());
  auto const run = [&](std::vector<double> const& source, bool before) {
    std::vector<double> y(p.x.size()), keys(static_cast<std::size_t>(p.source_rows * 2 * d));
    p.with_saved([&](auto& ex, call const& c, auto const& layer, auto const& saved) {
      auto in = p.input(p.x, source);
      matrix_of const made(keys.data(), p.source_rows, 2 * d), out(y.data(), p.rows, d);
      if (!before) return layer.forward(ex, c, parameters.values(), in, saved, out);
      layer.project(ex, c, parameters.values(), in.source.x, made);
      in.source.x = read(nullptr, 0, e);
      layer.forward(ex, c, parameters.values(), in, saved, out, {}, read_only(made));
    });
    return y;
  };
  auto const whole = run(p.source, false);
  CHECK(run(p.source, true) == whole);
  auto other = p.source;
  for (std::size_t f = 0; f < e; ++f) other[4 * e + f] += 1;  // changes the masked token
  CHECK(run(other, false) == whole);
  for (std::size_t f = 0; f < e; ++f) other[f] += 1;  // changes the first source
  auto const changed = run(other, false);
  CHECK(std::equal(whole.begin() + 3 * d, whole.end(), changed.begin() + 3 * d));
  CHECK_FALSE(std::equal(whole.begin(), whole.begin() + d, changed.begin()));
}

TEST_CASE("cross-attention lists its parameters by name, keys and values as wide as the source") {
  auto const layer = problem().layer();
  CHECK(test::paths_of(layer) == std::vector<std::string>{"query.weight", "query.bias", "key.weight", "key.bias",
                                                          "value.weight", "value.bias", "output.weight",
                                                          "output.bias"});
  arena measure;
  CHECK(count_values(layer.plan_params(measure)) == 2 * (d * d + d) + 2 * (d * e + d));
}

}  // namespace layers_cross_attention_tests
