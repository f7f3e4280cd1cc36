// A model and one batch, for tests. The loss and its gradient are functions of all parameters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"
#include "triad/train/trainer.hpp"

namespace triad::test {

/// `Loader` must have upload(), which returns the batch and its targets.
template <class Model, class Ex, class Loader>
struct model_use {
  Ex ex;
  Model model;
  keep kept;
  Loader loader;
  parameter_set<Model, reference::backend> parameters;
  std::uint64_t step = 3;

  model_use(Model const& m, keep k, Loader l)
      : model(m), kept(k), loader(std::move(l)), parameters(model, holding::gradients) {
    initialize(parameters, 3);
  }
  std::vector<double> values() {
    auto const flat = parameters.flat_values();
    return {flat.data_handle(), flat.data_handle() + flat.extent(0)};
  }
  double run(std::vector<double> const& at, std::vector<double>* gradient) { return run_on(ex, at, gradient); }
  template <class Backend>
  double run_on(Backend& where, std::vector<double> const& at, std::vector<double>* gradient) {
    std::copy(at.begin(), at.end(), parameters.flat_values().data_handle());
    std::fill_n(parameters.flat_gradients().data_handle(), at.size(), 0.0);
    auto const batch = loader.upload();
    auto const& in = batch.first;
    auto const& targets = batch.second;  // no structured bindings: lambdas in clang 14 cannot capture them
    auto const& dims = detail::dims_of_batch(in);
    spoiled_memory const memory([&](arena& a) {
      (void)model.plan_output(a, dims);
      (void)model.plan_output(a, dims);
      return model.plan_saved(a, dims, kept);
    });
    auto place = memory.place();
    auto const scores = model.plan_output(place, dims), d = model.plan_output(place, dims);
    auto const saved = model.plan_saved(place, dims, kept);
    double loss = 0;
    call c;
    c.train = true;
    c.key = 7;
    c.step = &step;
    with_scratch(where, c, [&](auto& backend, call const& now) {
      model.forward(backend, now, parameters.values(), in, saved, scores);
      model.loss(backend, *now.scratch, in, scores, targets, make_vec(&loss, 1), d);
      if (gradient) model.backward(backend, now, parameters.values(), in, saved, d, parameters.gradients());
    });
    if (gradient) std::copy_n(parameters.flat_gradients().data_handle(), at.size(), gradient->data());
    return loss;
  }
};

/// Checks the gradient of the loss, with respect to all parameters or only some, by finite differences. On a device,
/// compares the gradient with that of the reference.
template <class Model, class Ex, class Loader>
void check_gradient_of(model_use<Model, Ex, Loader>&& use, bool few = false) {
  auto const start = use.values();
#if defined(TRIAD_TEST_ON_CUDA)
  (void)few;
  reference::backend plain;
  variables expected{{"parameters", start}, {"the loss", {0}}}, found = expected;
  expected[1].values[0] = use.run_on(plain, start, &expected[0].values);
  found[1].values[0] = use.run(start, &found[0].values);
  gradient_report report;
  compare_with_reference(report, expected, found);
  CHECK_GRADIENT(report);
#else
  CHECK_GRADIENT(gradient_check(
      {{"parameters", start}}, [&](variables const& at) { return use.run(at[0].values, nullptr); },
      [&](variables const& at, variables& g) { use.run(at[0].values, &g[0].values); },
      {.directions = few ? 2 : 6, .elements = few ? 4 : 40}));
#endif
}

}  // namespace triad::test
