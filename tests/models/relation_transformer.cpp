// The relation-aware Transformers: gradients, pruning, recomputation, padding, relabelling, threads, and learning by
// heart.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/relation_transformer.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "tests/replay_number.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/train/gradient_check.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace models_relation_transformer_tests {

using namespace triad;

constexpr index_t labels = 7, targets = 5, d = 6;

relation_transformer_options sizes(index_t layers, bool tied, double rate = 0, bool prune = true) {
  return {labels, targets, layers, tied, {d, 2, 10, rate}, prune};
}

// One graph with a question, its labels drawn at random.
struct drawn_graph {
  index_t n, source, target;
  std::vector<index_t> label;  // (n n)

  drawn_graph(index_t nodes, std::uint64_t stream) : n(nodes), source(0), target(nodes - 1) {
    random_stream random(2, stream);
    for (index_t e = 0; e < n * n; ++e) label.push_back(random.below(labels));
  }
  /// The same graph in other words: node i is called to[i].
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

std::vector<drawn_graph> some_graphs() { return {{3, 1}, {1, 2}, {4, 3}, {2, 4}}; }

// A model with parameters drawn at random and the memory of one use.
template <class Model>
struct bench {
  using T = typename Model::value_type;
  using states = typename Model::states;

  Model model;
  std::vector<drawn_graph> graphs;
  index_t padded_to = 0;  // every graph gets this many nodes
  std::vector<T> x0;      // (nodes, d) or none
  keep kept = keep::everything;
  std::vector<T> logits, dx0;
  graph_loader<reference::backend> loader{{8, 8 * 49, 8 * 7, 8 * 343, 7}};
  std::vector<std::uint8_t> masked;
  std::uint64_t step = 6;

  explicit bench(relation_transformer_options const& z, std::vector<drawn_graph> g = some_graphs())
      : model(z), graphs(std::move(g)) {}

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
    typename Model::input in(loader.upload());
    if (padded_to > 0) in.edge_mask = make_vec<std::uint8_t const>(masked.data(), static_cast<index_t>(masked.size()));
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

  // logits, and, where there is memory for it, the gradient of the loss; returns the loss.
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
    states const into(dx0.data(), x0.empty() ? 0 : in.graphs.dims.nodes, d);
    T loss = 0;
    if (params.holds_gradients()) params.zero_gradients(ex);
    call c;
    c.train = true;
    c.step = &step;
    test::with_scratch(ex, c, [&](auto& backend, call const& use) {
      model.forward(backend, use, params.values(), in, saved, y);
      cross_entropy(backend, y, loader.uploaded_answers(), make_vec(&loss, 1), dy);
      if (params.holds_gradients())
        model.backward(backend, use, params.values(), in, saved, dy, params.gradients(), into);
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

// Sums of a few hundred products of numbers of size one, in another order.
constexpr double tolerance = 1e-12;

template <class Result>
void expect_same(Result const& a, Result const& b) {
  CHECK(largest_difference(a.logits, b.logits) < tolerance);
  REQUIRE(a.gradients.size() == b.gradients.size());
  for (std::size_t t = 0; t < a.gradients.size(); ++t) {
    INFO(a.paths[t]);
    CHECK(largest_difference(a.gradients[t], b.gradients[t]) < tolerance);
  }
}

using rat = relation_aware_transformer<double>;
using rrat = relation_updating_transformer<double>;

// A model and what computes it: one backend is enough, since the layers' tests have gone through all.
template <class Model, class Ex>
struct on {
  using model = Model;
  using backend = Ex;
};
#define TRIAD_TEST_MODELS (on<rat, TRIAD_TEST_ONE_BACKEND>), (on<rrat, TRIAD_TEST_ONE_BACKEND>)

TEMPLATE_TEST_CASE("a relation-aware Transformer has the gradient of its loss, tied and untied, pruned and whole", "",
                   rat, rrat, (relation_aware_transformer<double, d, 2, 10>),
                   (relation_updating_transformer<double, d, 2, 10>)) {
  cpu::backend ex(1);
  for (bool tied : {false, true})
    for (bool prune : {false, true})
      for (index_t layers : {1, 2}) {
        CAPTURE(tied, prune, layers);
        bench<TestType> b(sizes(layers, tied, 0.2, prune));
        b.x0 = test::random_values(10 * d, 3);
        parameter_set<TestType, cpu::backend> params(b.model, holding::gradients);
        b.draw(params);
        variables point;
        walk(params.values(), [&](std::string const& path, auto view) {
          point.push_back({path, {view.data_handle(), view.data_handle() + view.size()}});
        });
        point.push_back({"x0", b.x0});
        auto const place = [&](variables const& at) {
          std::size_t t = 0;
          walk(params.mutable_values(), [&](std::string const&, auto view) {
            std::copy(at[t].values.begin(), at[t].values.end(), view.data_handle()), ++t;
          });
          b.x0 = at[t].values;
        };
        gradient_check_options few;
        few.directions = 1;
        few.elements = 2;
        auto const report = gradient_check(
            point,
            [&](variables const& at) {
              place(at);
              return b.run(ex, params);
            },
            [&](variables const& at, variables& g) {
              place(at);
              b.run(ex, params);
              std::size_t t = 0;
              walk(params.gradients(), [&](std::string const&, auto view) {
                g[t++].values.assign(view.data_handle(), view.data_handle() + view.size());
              });
              g[t].values = b.dx0;
            },
            few);
        CHECK_GRADIENT(report);
      }
}

TEMPLATE_TEST_CASE("a relation-aware Transformer is computed as the reference does, with dropout", "",
                   TRIAD_TEST_MODELS) {
  bench<typename TestType::model> b(sizes(3, true, 0.3));
  expect_same(b.all(reference::backend()), b.all(typename TestType::backend()));
}

TEMPLATE_TEST_CASE("pruning the last layer changes neither logits nor gradients", "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (bool tied : {false, true})
    for (index_t layers : {1, 3}) {
      bench<typename TestType::model> pruned(sizes(layers, tied, 0, true)), whole(sizes(layers, tied, 0, false));
      expect_same(pruned.all(ex), whole.all(ex));
    }
}

TEMPLATE_TEST_CASE("a relation-aware Transformer that recomputes gives the same bits, and inference the same logits",
                   "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (index_t layers : {1, 2, 4}) {
    bench<typename TestType::model> b(sizes(layers, false, 0.3));
    auto const everything = b.all(ex);
    b.kept = keep::inputs;
    auto const inputs = b.all(ex);
    CHECK(everything.logits == inputs.logits);
    CHECK(everything.gradients == inputs.gradients);
    b.kept = keep::nothing;
    CHECK(b.all(ex).logits == everything.logits);
  }
}

TEMPLATE_TEST_CASE("the ragged batch gives the padded batch's logits and gradients", "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (bool prune : {false, true}) {
    bench<typename TestType::model> ragged(sizes(3, true, 0, prune)), padded(sizes(3, true, 0, prune));
    padded.padded_to = 5;
    expect_same(ragged.all(ex), padded.all(ex));
    expect_same(ragged.all(reference::backend()), padded.all(reference::backend()));
  }
}

TEMPLATE_TEST_CASE("relabelling the nodes of a graph changes no answer of a relation-aware Transformer", "",
                   TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  auto renamed = some_graphs();
  renamed[0] = renamed[0].renamed({2, 0, 1});
  renamed[2] = renamed[2].renamed({3, 1, 0, 2});
  bench<typename TestType::model> a(sizes(3, false)), b(sizes(3, false), renamed);
  auto const before = a.all(ex), after = b.all(ex);
  CHECK(largest_difference(before.logits, after.logits) < tolerance);
}

TEMPLATE_TEST_CASE("one seed gives one relation-aware Transformer, whatever the threads", "",
                   (relation_aware_transformer<float>), (relation_updating_transformer<float>)) {
  bench<TestType> b(sizes(3, true, 0.3));
  auto const one = b.all(cpu::backend(1)), two = b.all(cpu::backend(2));
  CHECK(one.logits == two.logits);
  CHECK(one.gradients == two.gradients);
}

TEMPLATE_TEST_CASE("exactly the parameters that are said to have a gradient have one", "", TRIAD_TEST_MODELS) {
  typename TestType::backend ex;
  for (bool tied : {false, true})
    for (index_t layers : {1, 2}) {
      CAPTURE(tied, layers);
      bench<typename TestType::model> b(sizes(layers, tied));
      b.x0 = test::random_values(10 * d, 3);
      auto const found = b.all(ex);
      for (std::size_t t = 0; t < found.paths.size(); ++t) {
        if (found.paths[t].find("key.bias") != std::string::npos) continue;  // shifts all scores of a softmax alike
        CAPTURE(found.paths[t]);
        bool zero = true;
        for (double v : found.gradients[t]) zero = zero && v == 0;
        CHECK(zero != b.model.has_gradient(found.paths[t]));
      }
    }
}

TEMPLATE_TEST_CASE("a relation-aware Transformer learns eight graphs by heart", "", (relation_aware_transformer<float>),
                   (relation_updating_transformer<float>)) {
  cpu::backend ex(1);
  bench<TestType> b({labels, targets, 3, true, {16, 2, 32, 0.0}, true},
                    {{3, 1}, {4, 2}, {5, 3}, {3, 4}, {4, 5}, {2, 6}, {5, 7}, {3, 8}});
  auto const in = b.load();
  trainer_options options;
  options.max_norm = 1;
  options.capacity = in.graphs.dims;
  trainer<TestType, cpu::backend> training(ex, b.model, options);
  initialize(training.parameters().mutable_values(), 1);
  training.update(in, b.loader.uploaded_answers(), 3e-3);
  auto const first = training.loss();
  for (int i = 0; i < 150; ++i) training.update(in, b.loader.uploaded_answers(), 3e-3);
  CAPTURE(first);
  CHECK(training.loss() < 0.05f);
}

TEST_CASE("first states are a part of what a recorded step is known by") {
  using queries = relation_queries<double, dyn>;
  std::vector<double> states(8);
  graph_queries const asked{};
  auto const from = [&](std::size_t at) {
    return queries(asked, tensor<double const, dyn, dyn>(states.data() + at, 2, 2));
  };
  CHECK(test::replay_number(queries(asked)) != test::replay_number(from(0)));
  CHECK(test::replay_number(from(0)) != test::replay_number(from(4)));
  CHECK(test::replay_number(from(0)) == test::replay_number(from(0)));
}

TEST_CASE(
    "a relation-aware Transformer without layers, or that is asked for what it did not keep, is refused with a "
    "sentence") {
  CHECK_THROWS_WITH(rat(sizes(0, true)), test::contains("relation_transformer: layers is 0, expected 1 to 255"));
  bench<rat> b(sizes(2, true));
  b.kept = keep::nothing;
  reference::backend ex;
  parameter_set<rat, reference::backend> params(b.model, holding::gradients);
  b.draw(params);
  CHECK_THROWS_WITH(b.run(ex, params), test::contains("has nothing for backward"));
}

}  // namespace models_relation_transformer_tests
