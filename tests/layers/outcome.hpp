// All results of a layer: its output times fixed factors, and every gradient. Tests compare the results of two layers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/gradient_check.hpp"

namespace triad::test {

struct outcome {
  double value = 0;
  variables gradient;
};

template <class Layer, class Dims>
outcome outcome_of(Layer const& layer, Dims const& dims, typename Layer::input const& in, output_shape shape,
                   keep kept = keep::everything) {
  reference::backend ex;
  gradient_check_options options;
  options.kept = kept;
  detail::layer_under_check<reference::backend, Layer, Dims> bench(ex, layer, dims, in, shape, options);
  outcome result{0, bench.start()};
  bench.gradient(bench.start(), result.gradient);
  result.value = bench.value(bench.start());
  return result;
}

inline void expect_same(variables const& a, variables const& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    CAPTURE(a[t].path);
    CHECK(a[t].path == b[t].path);
    CHECK(a[t].values == b[t].values);
  }
}
inline void expect_same(outcome const& a, outcome const& b) {
  CHECK(a.value == b.value);
  expect_same(a.gradient, b.gradient);
}

/// Random rows as two views: one with a static width, and one with a dynamic width.
struct some_rows {
  index_t rows, columns;
  std::vector<double> values;
  some_rows(index_t r, index_t c, std::uint64_t stream = 1)
      : rows(r), columns(c), values(random_values(r * c, stream)) {}

  row_dims dims() const { return row_dims(rows); }
  template <index_t D = dyn>
  tensor<double const, dyn, D> view() const {
    return tensor<double const, dyn, D>(values.data(), extents<dyn, D>(rows, columns));
  }
};

/// Returns the paths of a layer's parameters in their order.
template <class Layer>
std::vector<std::string> paths_of(Layer const& layer) {
  std::vector<std::string> paths;
  arena measure;
  walk(layer.plan_params(measure), [&](std::string const& path, auto) { paths.push_back(path); });
  return paths;
}

/// A gradient_check for a layer with several inputs. run(parameters, at, d) must return the value at `at`. `parameters`
/// refers to the first tensor of `at`, which has the parameters. If `d` is not null, run() must also add to the
/// parameters' gradients, and overwrite the gradients of all other tensors, d[1] and following.
template <class Layer, class Run>
gradient_report check_use(Layer const& layer, variables const& inputs, Run&& run,
                          gradient_check_options const& options = {}) {
  parameter_set<Layer, reference::backend> p(layer, holding::gradients);
  auto const values = p.flat_values(), gradients = p.flat_gradients();
  variables point{{"parameters", random_values(values.extent(0), 9, 0.7)}};
  point.insert(point.end(), inputs.begin(), inputs.end());
  auto const use = [&](variables const& at, variables* d) {
    std::copy(at[0].values.begin(), at[0].values.end(), values.data_handle());
    std::fill_n(gradients.data_handle(), gradients.extent(0), 0.5);
    return run(p, at, d);
  };
  return gradient_check(
      point, [&](variables const& at) { return use(at, nullptr); },
      [&](variables const& at, variables& d) {
        use(at, &d);
        for (index_t i = 0; i < gradients.extent(0); ++i) d[0].values[static_cast<std::size_t>(i)] = gradients(i) - 0.5;
      },
      options);
}

/// Returns sum(a b).
inline double product(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace triad::test
