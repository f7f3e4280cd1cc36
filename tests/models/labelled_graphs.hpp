// Code that tests of models of labelled graphs share: a model together with the memory for one pass, and checks of
// properties that all models have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/cpu/kernels/tasks.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/parameters.hpp"
#include "triad/train/trainer.hpp"

namespace triad::test::labelled_graphs {

inline constexpr index_t labels = 7, targets = 5, d = 6;

// A graph with random labels and one question.
struct drawn_graph {
  index_t n, source, target;
  std::vector<index_t> label;  // (n n)

  drawn_graph(index_t nodes, std::uint64_t stream) : n(nodes), source(0), target(nodes - 1) {
    random_stream random(2, stream);
    for (index_t e = 0; e < n * n; ++e) label.push_back(random.below(labels));
  }
  /// Returns this graph with other node numbers: node i becomes node to[i].
  drawn_graph renamed(std::vector<index_t> const& to) const {
    drawn_graph r = *this;
    auto const name = [&](index_t i) { return to[static_cast<std::size_t>(i)]; };
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        r.label[static_cast<std::size_t>(name(i) * n + name(j))] = label[static_cast<std::size_t>(i * n + j)];
    r.source = name(source);
    r.target = name(target);
    return r;
  }
};

inline std::vector<drawn_graph> some_graphs() { return {{3, 1}, {1, 2}, {4, 3}, {2, 4}}; }

// A model with random parameters and the memory for one pass.
template <class Model>
struct bench {
  using T = typename Model::value_type;
  using states = typename Model::states;
  static constexpr bool takes_states = requires(typename Model::input in) { in.x0; };

  Model model;
  std::vector<drawn_graph> graphs;
  index_t padded_to = 0;  // number of nodes to which every graph is padded
  std::vector<T> x0;      // (nodes, d), for a model whose input has first states; otherwise empty
  keep kept = keep::everything;
  std::vector<T> logits, dx0;
  graph_loader<reference::backend> loader{{8, 8 * 49, 8 * 7, 8 * 343, 7}};
  vec<index_t const> answers{nullptr, 0};  // targets of the batch that load() has loaded
  std::vector<std::uint8_t> masked;
  std::uint64_t step = 6;

  template <class Options>
  explicit bench(Options const& z, std::vector<drawn_graph> g = some_graphs()) : model(z), graphs(std::move(g)) {}

  typename Model::input load() {
    loader.clear();
    masked.clear();
    for (auto const& g : graphs) {
      index_t const n = padded_to > 0 ? padded_to : g.n;
      auto* const to = loader.add(n, g.source, g.target, (g.n + g.label[0]) % targets);
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) {
          bool const real = i < g.n && j < g.n;
          if (real) to[i * n + j] = g.label[static_cast<std::size_t>(i * g.n + j)];
          masked.push_back(!real);
        }
    }
    auto const uploaded = loader.upload();
    answers = uploaded.second;
    typename Model::input in(uploaded.first);
    if (padded_to > 0) in.edge_mask = make_vec<std::uint8_t const>(masked.data(), static_cast<index_t>(masked.size()));
    if constexpr (takes_states)
      if (!x0.empty()) in.x0 = const_view<states>(x0.data(), in.graphs.dims.nodes, d);
    return in;
  }

  template <class Ex>
  static void draw(parameter_set<Model, Ex>& params) {
    random_stream random(4, 5);
    walk(params.mutable_values(), [&](std::string const&, auto view) {
      for (std::size_t i = 0; i < view.size(); ++i)
        view.data_handle()[i] = static_cast<T>(static_cast<float>(random.uniform(-0.7, 0.7)));
    });
  }

  // Computes the logits, and also the gradient of the loss if there is memory for it. Returns the loss.
  template <class Ex>
  double run(Ex& ex, parameter_set<Model, Ex>& params) {
    auto const in = load();
    index_t const b = in.graphs.dims.graphs;
    test::spoiled_memory const memory([&](arena& a) { return model.plan_saved(a, in.graphs.dims, kept); });
    auto place = memory.place();
    auto const saved = model.plan_saved(place, in.graphs.dims, kept);
    logits.assign(static_cast<std::size_t>(b * targets), T(0));
    std::vector<T> dlogits(logits.size());
    typename Model::output const y(logits.data(), b, targets), dy(dlogits.data(), b, targets);
    dx0.assign(x0.size(), T(0));
    [[maybe_unused]] states const into(dx0.data(), x0.empty() ? 0 : in.graphs.dims.nodes, d);
    T loss = 0;
    if (params.holds_gradients()) params.zero_gradients(ex);
    call c;
    c.train = true;
    c.step = &step;
    test::with_scratch(ex, c, [&](auto& backend, call const& use) {
      model.forward(backend, use, params.values(), in, saved, y);
      cross_entropy(backend, y, answers, make_vec(&loss, 1), dy);
      if (!params.holds_gradients()) return;
      if constexpr (takes_states)
        model.backward(backend, use, params.values(), in, saved, dy, params.gradients(), into);
      else
        model.backward(backend, use, params.values(), in, saved, dy, params.gradients());
    });
    return static_cast<double>(loss);
  }

  struct result {
    std::vector<T> logits;
    std::vector<std::vector<T>> gradients;
    std::vector<std::string> paths;
  };
  template <class Ex>
  result all(Ex&& ex) {
    parameter_set<Model, std::remove_cvref_t<Ex>> params(model,
                                                         kept == keep::nothing ? holding::values : holding::gradients);
    draw(params);
    run(ex, params);
    result r{logits, {}, {}};
    if (params.holds_gradients())
      walk(params.gradients(), [&](std::string const& path, auto view) {
        r.gradients.emplace_back(view.data_handle(), view.data_handle() + view.size());
        r.paths.push_back(path);
      });
    return r;
  }

  // Checks the gradient of the loss with respect to all parameters, and to x0 if the model has first states.
  template <class Ex>
  gradient_report check(Ex& ex) {
    parameter_set<Model, Ex> params(model, holding::gradients);
    draw(params);
    variables point;
    walk(params.values(), [&](std::string const& path, auto view) {
      point.push_back({path, {view.data_handle(), view.data_handle() + view.size()}});
    });
    if constexpr (takes_states) point.push_back({"x0", x0});
    auto const place = [&](variables const& at) {
      std::size_t t = 0;
      walk(params.mutable_values(), [&](std::string const&, auto view) {
        std::copy(at[t].values.begin(), at[t].values.end(), view.data_handle()), ++t;
      });
      if constexpr (takes_states) x0 = at[t].values;
    };
    gradient_check_options few;
    few.directions = 1;
    few.elements = 2;
    return gradient_check(
        point,
        [&](variables const& at) {
          place(at);
          return run(ex, params);
        },
        [&](variables const& at, variables& g) {
          place(at);
          run(ex, params);
          std::size_t t = 0;
          walk(params.gradients(), [&](std::string const&, auto view) {
            g[t++].values.assign(view.data_handle(), view.data_handle() + view.size());
          });
          if constexpr (takes_states) g[t].values = dx0;
        },
        few);
  }
};

template <class T>
double largest_difference(std::vector<T> const& a, std::vector<T> const& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double const e = std::abs(static_cast<double>(a[i] - b[i]));
    worst = test::worse(worst, e);
  }
  return worst;
}

// The tolerance allows for rounding in sums of a few hundred products of numbers of size one, which are added in
// another order.
inline constexpr double tolerance = 1e-12;

template <class Result>
void expect_same(Result const& a, Result const& b) {
  CHECK(largest_difference(a.logits, b.logits) < tolerance);
  REQUIRE(a.gradients.size() == b.gradients.size());
  for (std::size_t t = 0; t < a.gradients.size(); ++t) {
    INFO(a.paths[t]);
    CHECK(largest_difference(a.gradients[t], b.gradients[t]) < tolerance);
  }
}

template <class Model, class Ex>
void expect_same_recomputed(bench<Model> b, Ex& ex) {
  auto const everything = b.all(ex);
  b.kept = keep::inputs;
  auto const inputs = b.all(ex);
  CHECK(everything.logits == inputs.logits);
  CHECK(everything.gradients == inputs.gradients);
  b.kept = keep::nothing;
  CHECK(b.all(ex).logits == everything.logits);
}

/// Checks the results for graphs that are so large that several threads share the work.
template <class Model, class Options>
void expect_same_by_threads(Options const& z) {
  bench<Model> b(z, {{7, 1}, {6, 2}, {7, 3}, {5, 4}, {7, 5}, {6, 6}, {7, 7}, {7, 8}});
  cpu::backend lent(3);
  lent.borrowed = &test::lender::lend;
  int const before = test::lender::calls;
  auto const one = b.all(cpu::backend(1)), two = b.all(cpu::backend(2)), three = b.all(lent);
  CHECK(test::lender::calls > before);
  for (auto const* more : {&two, &three}) {
    CHECK(more->logits == one.logits);
    CHECK(more->gradients == one.gradients);
  }
}

// Checks that all parameters have a gradient, except for the parameters that the model lists.
template <class Model, class Ex>
void expect_gradients_as_said(bench<Model> b, Ex& ex) {
  auto const found = b.all(ex);
  for (std::size_t t = 0; t < found.paths.size(); ++t) {
    // The bias of the keys adds the same number to all scores of a softmax.
    if (found.paths[t].find("key.bias") != std::string::npos) continue;
    CAPTURE(found.paths[t]);
    bool zero = true;
    for (double v : found.gradients[t]) zero = zero && v == 0;
    CHECK(zero != b.model.has_gradient(found.paths[t]));
  }
}

// Checks that a model memorises eight graphs in `updates` updates.
template <class Model, class Options>
void expect_learned_by_heart(Options const& z, int updates) {
  cpu::backend ex(1);
  bench<Model> b(z, {{3, 1}, {4, 2}, {5, 3}, {3, 4}, {4, 5}, {2, 6}, {5, 7}, {3, 8}});
  auto const in = b.load();
  trainer_options options;
  options.max_norm = 1;
  options.capacity = in.graphs.dims;
  trainer<Model, cpu::backend> training(ex, b.model, options);
  initialize(training.parameters(), 1);
  training.update(in, b.answers, 3e-3);
  auto const first = training.loss();
  for (int i = 0; i < updates; ++i) training.update(in, b.answers, 3e-3);
  CAPTURE(first);
  CHECK(training.loss() < 0.05f);
}

// Checks that an unknown label at edge (1, 2) of the third graph is found.
template <class Model, class Options>
void expect_label_told(Options const& z) {
  bench<Model> b(z);
  b.graphs[2].label[1 * 4 + 2] = labels;
  reference::backend ex;
  parameter_set<Model, reference::backend> params(b.model, holding::gradients);
  b.draw(params);
  CHECK_THROWS_WITH(b.run(ex, params),
                    test::contains("edge (1, 2) of graph 2 has label 7, and the model knows 0 to 6"));
}

template <class Model>
void expect_no_backward_without_states(bench<Model> b) {
  b.kept = keep::nothing;
  reference::backend ex;
  parameter_set<Model, reference::backend> params(b.model, holding::gradients);
  b.draw(params);
  CHECK_THROWS_WITH(b.run(ex, params), test::contains("backward with memory planned for inference"));
}

}  // namespace triad::test::labelled_graphs
