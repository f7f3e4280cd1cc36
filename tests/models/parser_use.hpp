// A parser on a batch of three sentences, for tests: its loss and its gradient as functions of all parameters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "tests/backends.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/models/sentence_loader.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"

namespace triad::test {

inline constexpr index_t parser_width = 6, parser_reach = 2;
inline constexpr index_t parser_tokens = 6;
inline constexpr label_counts parser_labels{3, 2, 4, 5};

inline std::vector<std::vector<labelled_token>> parser_sentences() {
  random_stream random(5, 1);
  std::vector<std::vector<labelled_token>> all;
  for (index_t n : {4, 1, 3}) {
    auto& s = all.emplace_back();
    for (index_t i = 0; i < n; ++i) {
      auto const draw = [&](std::uint32_t count) { return static_cast<index_t>(random.below(count)); };
      s.push_back({draw(parser_tokens), draw(static_cast<std::uint32_t>(n)), draw(3), draw(2), draw(4), i == 2 ? -1 : draw(5)});
    }
  }
  return all;
}

/// A model on one batch, its loss and its gradient as functions of all parameters.
template <class Model, class Ex>
struct parser_use {
  Ex ex;
  Model model;
  keep kept;
  graph_dims dims{3, 26, 8, 92, 4};
  sentence_loader<reference::backend, double> loader{dims, parser_reach, parser_width};
  parameter_set<Model, reference::backend> parameters;
  std::uint64_t step = 3;

  template <class Sizes>
  parser_use(Sizes const& z, keep k) : model(z), kept(k), parameters(model, holding::gradients) {
    for (auto const& s : parser_sentences()) loader.add(s);
    initialize(parameters.mutable_values(), 3);
  }
  std::vector<double> values() {
    auto const flat = parameters.flat_values();
    return {flat.data_handle(), flat.data_handle() + flat.extent(0)};
  }
  double run(std::vector<double> const& at, std::vector<double>* gradient) {
    std::copy(at.begin(), at.end(), parameters.flat_values().data_handle());
    std::fill_n(parameters.flat_gradients().data_handle(), at.size(), 0.0);
    auto const batch = loader.upload();
    auto const& in = batch.first;
    auto const& right = batch.second;  // no bindings: clang 14 does not let lambdas have them
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
    with_scratch(ex, c, [&](auto& backend, call const& now) {
      model.forward(backend, now, parameters.values(), in, saved, scores);
      model.loss(backend, *now.scratch, in, scores, right, make_vec(&loss, 1), d);
      if (gradient) model.backward(backend, now, parameters.values(), in, saved, d, parameters.gradients());
    });
    if (gradient) std::copy_n(parameters.flat_gradients().data_handle(), at.size(), gradient->data());
    return loss;
  }
};

/// The gradient of the loss, by differences: fewer of them where a stand-in for a device is slow.
template <class Model, class Ex>
void check_gradient_of(parser_use<Model, Ex> use) {
  bool const slow = is_device<Ex>;
  CHECK_GRADIENT(gradient_check({{"parameters", use.values()}}, [&](variables const& at) { return use.run(at[0].values, nullptr); },
                                [&](variables const& at, variables& g) { use.run(at[0].values, &g[0].values); },
                                {.directions = slow ? 2 : 6, .elements = slow ? 4 : 40}));
}

}  // namespace triad::test
