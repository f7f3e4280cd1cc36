// Tests the agent of a tree machine in one step: the gradients through all its outputs, with norms before or after
// blocks, and that samples do not affect each other.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/tree/agent.hpp"

#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_agent_tests {

using namespace triad;

constexpr index_t width = 6, heads = 2, hidden = 8, fillers = 5;

/// The agent as a layer. Its output is one row with all results. The tokens are the first results.
template <index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct spoken {
  using agent_type = neural_tree_agent<double, D, H, F>;
  using value_type = double;
  using input = typename agent_type::input;
  using output = tensor<double, dyn, dyn>;  // (1, tokens, operations, roots, arguments)
  using states = typename agent_type::output;

  agent_type agent;
  index_t batch, tokens;

  index_t rows() const { return batch * tokens; }
  index_t numbers() const {
    return rows() * (agent.width() + 2 * agent.branching) + batch * (agent.branching + 1 + agent.fillers);
  }

  template <class S>
  using fields = fields_of<agent_type, S>;
  struct saved {
    typename agent_type::saved agent;
    states y;
  };
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return plan<S>(agent, place);
  }
  saved plan_saved(arena& place, row_dims dims, keep kept) const {
    auto const a = agent.plan_saved(place, dims, kept);
    return {a, place.make<states>(dims.rows, agent.width())};
  }

  template <class S>
  struct parts {
    tensor<S, dyn, D> y;
    matrix<S> operation, root, arguments;
  };
  template <class S>
  parts<S> parts_of(S* at) const {
    index_t const b = agent.branching;
    auto const take = [&](index_t r, index_t columns) {
      S* const begin = at;
      at += r * columns;
      return make_matrix(begin, r, columns, columns);
    };
    tensor<S, dyn, D> const y(take(rows(), agent.width()).data_handle(), extents<dyn, D>(rows(), agent.width()));
    auto const operation = take(batch, b + 1), root = take(batch, agent.fillers);
    return {y, operation, root, take(rows(), 2 * b)};
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<double const> w, input const& in, saved const& s,
               output const& said) const {
    auto const to = parts_of(said.data_handle());
    agent.forward(ex, c, w, in, tokens, s.agent, s.y, to.operation, to.root, to.arguments);
    transform(ex, unchanged{}, read_only(s.y), to.y);
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<double const> w, input const& in, saved const& s,
                const_view<output> d_said, states dx, fields<double> gradient) const {
    auto const frame = c.scratch->open();
    auto const d = parts_of(d_said.data_handle());
    auto const dy = c.scratch->template make<states>(rows(), agent.width());
    transform(ex, unchanged{}, d.y, dy);
    agent.backward(ex, c, w, in, tokens, s.agent, s.y, dy, d.operation, d.root, d.arguments, dx, gradient);
  }
};

// Samples that all have the same number of tokens.
struct samples {
  index_t batch, tokens;
  std::vector<index_t> size, first;
  std::vector<double> x;

  samples(index_t b, index_t t)
      : batch(b), tokens(t), size(static_cast<std::size_t>(b), t), x(test::random_values(b * t * width, 1)) {
    for (index_t i = 0; i < b; ++i) first.push_back(i * t);
  }
  template <index_t D = dyn>
  sequence_input<double, D> input() const {
    return {tensor<double const, dyn, D>(x.data(), extents<dyn, D>(batch * tokens, width)),
            {batch, batch * tokens, tokens, make_vec(size.data(), batch), make_vec(first.data(), batch)}};
  }
};

tree_agent_options options(norm_position norms, index_t branching, index_t layers = 2) {
  return {{width, heads, hidden, 0.3, norms, activation::gelu}, layers, branching, fillers};
}

template <class Ex, class Layer, class Input>
void check_gradient(Ex& ex, Layer const& layer, Input const& in, keep kept) {
  gradient_check_options few{.directions = 1, .elements = 2};
  few.kept = kept;
  auto const report = gradient_check(ex, layer, row_dims(layer.rows()), in, {1, layer.numbers()}, few);
  CHECK_GRADIENT(report);
}

TEMPLATE_TEST_CASE("the agent has the gradient of its tokens and of all that it says", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto norms : {norm_position::before, norm_position::after})
    for (index_t branching : {2, 3})
      for (index_t tokens : {3, 5}) {
        bool const first = branching == 2;
        CAPTURE(norms == norm_position::before, branching, tokens);
        samples const s(3, tokens);
        auto const kept = tokens == 3 ? keep::everything : keep::inputs;
        auto const o = options(norms, branching, first ? 2 : 1);
        check_gradient(ex, spoken<>{neural_tree_agent<double>(o), 3, tokens}, s.input(), kept);
        if (first)
          check_gradient(ex,
                         spoken<width, heads, hidden>{neural_tree_agent<double, width, heads, hidden>(o), 3, tokens},
                         s.input<width>(), kept);
      }
}

/// Returns all results of an agent with random parameters.
template <class Ex, class Layer, class Input>
std::vector<double> result(Ex& ex, Layer const& layer, Input const& in) {
  test::spoiled_memory const memory([&](arena& a) {
    (void)layer.plan_params(a);
    return layer.plan_saved(a, row_dims(layer.rows()), keep::everything);
  });
  auto place = memory.place(), at = memory.place();
  auto const w = layer.plan_params(place);
  auto const values = plan<double const>(layer, at);
  random_stream random(4, 5);
  walk(w, [&](std::string const&, auto view) {
    for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = random.uniform(-0.7, 0.7);
  });
  auto const saved = layer.plan_saved(place, row_dims(layer.rows()), keep::everything);
  std::vector<double> said(static_cast<std::size_t>(layer.numbers()));
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    layer.forward(backend, c, values, in, saved, tensor<double, dyn, dyn>(said.data(), 1, layer.numbers()));
  });
  return said;
}

TEMPLATE_TEST_CASE("what an agent says of a sample is about that sample, and about all of its trees", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  spoken<> const layer{neural_tree_agent<double>(options(norm_position::before, 2)), 3, 4};
  samples one(3, 4), other(3, 4);
  other.x[static_cast<std::size_t>((4 + 3) * width)] += 1;  // changes the last token of the second sample
  auto const a = result(ex, layer, one.input()), b = result(ex, layer, other.input());
  auto const x = layer.parts_of(a.data()), y = layer.parts_of(b.data());
  auto const same_rows = [](matrix<double const> p, matrix<double const> q, index_t first, index_t count) {
    for (index_t r = first; r < first + count; ++r)
      for (index_t c = 0; c < p.extent(1); ++c)
        if (p(r, c) != q(r, c)) return false;
    return true;
  };
  for (index_t sample = 0; sample < 3; ++sample) {
    CAPTURE(sample);
    bool const untouched = sample != 1;
    CHECK(same_rows(x.operation, y.operation, sample, 1) == untouched);
    CHECK(same_rows(x.root, y.root, sample, 1) == untouched);
    for (index_t t = 0; t < 4; ++t) {
      CHECK(same_rows(x.arguments, y.arguments, sample * 4 + t, 1) == untouched);
      CHECK(same_rows(as_matrix(x.y), as_matrix(y.y), sample * 4 + t, 1) == untouched);
    }
  }
}

TEST_CASE("agents of static and of dynamic shape say the same bits") {
  reference::backend ex;
  samples const s(2, 4);
  for (auto norms : {norm_position::before, norm_position::after}) {
    auto const o = options(norms, 3);
    CHECK(result(ex, spoken<>{neural_tree_agent<double>(o), 2, 4}, s.input()) ==
          result(ex, spoken<width, heads, hidden>{neural_tree_agent<double, width, heads, hidden>(o), 2, 4},
                 s.input<width>()));
  }
}

TEST_CASE("an agent has a norm after its layers where norms come before the branches, and none where they come after") {
  auto const paths_of = [](auto const& agent) {
    std::vector<std::string> all;
    arena measure;
    walk(agent.plan_params(measure), [&](std::string const& path, auto) { all.push_back(path); });
    return std::vector<std::string>(all.begin() + 16, all.end());
  };
  auto const paths = [&](norm_position norms) {
    auto const free = paths_of(neural_tree_agent<double>(options(norms, 2, 1)));
    CHECK(paths_of(neural_tree_agent<double, width, heads, hidden>(options(norms, 2, 1))) == free);
    return free;
  };
  std::vector<std::string> const said{"operation.weight", "operation.bias",   "root.weight",
                                      "root.bias",        "arguments.weight", "arguments.bias"};
  auto with = std::vector<std::string>{"norm.gain", "norm.bias"};
  with.insert(with.end(), said.begin(), said.end());
  CHECK(paths(norm_position::after) == said);
  CHECK(paths(norm_position::before) == with);
}

}  // namespace layers_agent_tests
