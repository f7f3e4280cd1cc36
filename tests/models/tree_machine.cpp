// Tests the Differentiable Tree Machine: its gradient for all combinations of options. Its results must not depend on
// whether it computes by rows or by matrices, on the support, on how trees are divided into batches, or on which values
// are kept.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/tree_machine.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/models/machine_use.hpp"
#include "tests/role_matrices.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace models_tree_machine_tests {

using namespace triad;
using test::machine_use, test::some_maps, test::some_trees;

constexpr index_t width = 6, heads = 2, hidden = 8;

transformer_layer_options layer(norm_position norms, double dropout = 0) {
  return {width, heads, hidden, dropout, norms, activation::gelu};
}

template <class T = double>
using by_rows = tree_machine<T>;
template <class T = double>
using by_matrices = tree_machine<T, matrix_interpreter<T>>;

template <class T = double>
by_rows<T> rows_of(some_trees<T> const& trees, transformer_layer_options const& o, index_t layers = 2) {
  return {tree_interpreter<T>(trees.where), trees.where.count(), trees.sizes(o, layers)};
}
template <class T = double>
by_matrices<T> matrices_of(some_trees<T> const& trees, some_maps<T> const& maps, transformer_layer_options const& o,
                           bool learned = false, index_t layers = 2) {
  return {maps.interpreter(learned), trees.where.count(), trees.sizes(o, layers)};
}

/// Checks the gradient of the loss with respect to all parameters by finite differences. On a device, compares the
/// gradient with that of the reference.
template <class Ex, class Model>
void check_gradient(Ex& ex, Model const& model, some_trees<double>& trees, keep kept = keep::everything) {
  machine_use<Model> use(model);
  use.kept = kept;
  auto const both = trees.all();
  auto const& in = both.first;
  auto const& targets = both.second;
#if defined(TRIAD_TEST_ON_CUDA)
  reference::backend plain;
  auto const expected = use.run(plain, in, targets), found = use.run(ex, in, targets);
  gradient_report report;
  test::compare_with_reference(report, {{"parameters", expected.gradient}, {"the loss", {expected.loss}}},
                               {{"parameters", found.gradient}, {"the loss", {found.loss}}});
#else
  auto const report = gradient_check(
      {{"parameters", use.values()}},
      [&](variables const& at) {
        use.set_values(at[0].values);
        return use.run(ex, in, targets, false).loss;
      },
      [&](variables const& at, variables& d) {
        use.set_values(at[0].values);
        d[0].values = use.run(ex, in, targets).gradient;
      },
      {.directions = 4, .elements = 12});
#endif
  CHECK_GRADIENT(report);
}

double size_of(std::vector<double> const& a) {
  double sum = 0;
  for (double v : a) sum += std::abs(v);
  return sum;
}

TEMPLATE_TEST_CASE(
    "the tree machine has the gradient of its loss, its operations by rows or by matrices, its norms before or after",
    "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto norms : {norm_position::before, norm_position::after})
    for (index_t branching : {2, 3}) {
      CAPTURE(norms == norm_position::before, branching);
      index_t const depth = branching == 2 ? 4 : 3;
      some_trees<double> unit(branching, depth, 2, 3, 5), general(branching, depth, 3, 3, 6, 4);
      some_maps<double> const maps(unit.where, false, unit.where.count() + 1);
      check_gradient(ex, rows_of(unit, layer(norms, 0.3)), unit);
      check_gradient(ex, rows_of(general, layer(norms, 0.3)), general, keep::inputs);
      check_gradient(ex, matrices_of(general, maps, layer(norms, 0.3)), general);
      check_gradient(ex, matrices_of(unit, maps, layer(norms, 0.3), true, 1), unit);
    }
}

TEMPLATE_TEST_CASE(
    "the tree machine has the gradient of its loss under noise on operations, arguments or both, over either axis", "",
    TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto over : {choice_over::trees, choice_over::arguments})
    for (auto const& [operations, arguments] : {std::pair(true, true), {true, false}, {false, true}}) {
      CAPTURE(over == choice_over::trees, operations, arguments);
      some_trees<double> trees(2, 3, 3, 3, 5, 4);
      trees.add_noise(over, operations, arguments);
      check_gradient(ex, rows_of(trees, layer(norm_position::before, 0.2), 1), trees);
      some_maps<double> const maps(trees.where, false);
      check_gradient(ex, matrices_of(trees, maps, layer(norm_position::after, 0.2), true), trees);
    }
}

TEMPLATE_TEST_CASE("the tree machine has the gradient of its loss where roots are distributions of symbols", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  some_trees<double> trees(2, 4, 2, 3, 5);
  some_maps<double> const maps(trees.where, false);
  auto z = trees.sizes(layer(norm_position::before, 0.3), 2);
  z.root = tree_root::distribution;
  check_gradient(ex, by_rows<>(tree_interpreter<double>(trees.where), trees.where.count(), z), trees);
  check_gradient(ex, by_matrices<>(maps.interpreter(true), trees.where.count(), z), trees);
}

TEMPLATE_TEST_CASE("the tree machine has the gradient of its loss where an argument may be the empty tree", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto norms : {norm_position::before, norm_position::after})
    for (index_t branching : {2, 3}) {
      CAPTURE(norms == norm_position::before, branching);
      index_t const depth = branching == 2 ? 4 : 3;
      some_trees<double> unit(branching, depth, 2, 3, 5, 0, 0, true), general(branching, depth, 3, 3, 6, 4, 0, true);
      some_maps<double> const maps(unit.where, false, unit.where.count() + 1);
      check_gradient(ex, rows_of(unit, layer(norms, 0.3)), unit);
      check_gradient(ex, rows_of(general, layer(norms, 0.3)), general, keep::inputs);
      check_gradient(ex, matrices_of(unit, maps, layer(norms, 0.3), true, 1), unit);
    }
  for (auto over : {choice_over::trees, choice_over::arguments}) {
    some_trees<double> noisy(2, 3, 3, 3, 5, 4, 0, true);
    noisy.add_noise(over);
    check_gradient(ex, rows_of(noisy, layer(norm_position::before, 0.2), 1), noisy);
  }
}

TEST_CASE("where an argument may be the empty tree, weights of all trees and of it are distributions") {
  some_trees<double> trees(2, 4, 2, 3, 5, 0, 0, true);
  auto const both = trees.all();
  reference::backend ex;
  machine_use<by_rows<>> use(rows_of(trees, layer(norm_position::before), 1));
  CHECK(use.model.tokens_at(0) == 4);
  auto const chosen = use.run(ex, both.first, both.second, false).chosen;  // operations and roots, then arguments
  auto at = chosen.begin() + 3 * 2 * (3 + 5);
  for (index_t k = 0; k < 3; ++k)
    for (index_t b = 0; b < 2; ++b) {
      double sums[4] = {};
      for (index_t i = 0; i < k + 2; ++i)
        for (double& sum : sums) {
          CHECK(*at > 0);
          sum += *at++;
        }
      for (double const sum : sums) CHECK_THAT(sum, test::WithinAbs(1, 1e-12));
    }
  CHECK(at == chosen.end());
}

// All other trees have scores of -1000, so the empty tree is chosen. Then every car and cdr returns an empty tree, and
// every cons returns a tree of only its root.
TEMPLATE_TEST_CASE("a machine whose arguments are all the empty tree writes roots alone", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  some_trees<double> trees(2, 4, 2, 3, 5, 0, 0, true);
  std::vector<double> noise(static_cast<std::size_t>(3 * 2 * 16));
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t i = 0; i < (row / 2 + 1) * 4; ++i) noise[row * 16 + i] = -1000;
  auto both = trees.all();
  both.first.argument_noise = tensor<double const, dyn, dyn, dyn>(noise.data(), 3, 2, 16);
  machine_use<by_rows<>> use(rows_of(trees, layer(norm_position::before), 1));
  auto const memory = use.run(ex, both.first, both.second, false).memory;  // (4, 2, 15, 5)
  auto const tree = std::size_t{15 * 5};
  for (std::size_t i = 2 * tree; i < memory.size(); ++i) {  // after the input trees
    CAPTURE(i);
    if (i % tree >= 5) CHECK(memory[i] == 0);
  }
  CHECK(size_of({memory.begin() + 2 * tree, memory.end()}) > 0.1);
}

TEST_CASE("a batch that was made for a machine without an empty tree is refused by one that has it") {
  some_trees<double> with(2, 4, 2, 3, 5, 0, 0, true), without(2, 4, 2, 3, 5);
  reference::backend ex;
  machine_use<by_rows<>> use(rows_of(with, layer(norm_position::before), 1));
  auto const other = without.all();
  CHECK_THROWS_WITH(use.run(ex, other.first, other.second), test::contains("an empty tree, expected one"));
}

TEST_CASE("a batch that was made for a machine of fewer steps is refused, and one of more steps is not") {
  reference::backend ex;
  some_trees<double> three(2, 3, 2, 3, 5), two(2, 3, 2, 2, 5), four(2, 3, 2, 4, 5);
  machine_use<by_rows<>> use(rows_of(three, layer(norm_position::before)));
  auto const few = two.all();
  CHECK_THROWS_WITH(use.run(ex, few.first, few.second),
                    test::contains("a batch for up to 2 steps, expected 3 or more"));
  auto const whole = three.all();
  auto const expected = use.run(ex, whole.first, whole.second);
  auto const many = four.all();
  CHECK(use.run(ex, many.first, many.second) == expected);
}

TEST_CASE("roots of a tree machine are as the agent says them, or distributions of symbols") {
  some_trees<double> trees(2, 4, 2, 3, 5);
  auto z = trees.sizes(layer(norm_position::before), 1);
  auto const both = trees.all();
  reference::backend ex;
  auto const sums_of = [&](tree_root root) {
    z.root = root;
    machine_use<by_rows<>> use(by_rows<>(tree_interpreter<double>(trees.where), trees.where.count(), z));
    auto const chosen = use.run(ex, both.first, both.second, false).chosen;  // operations come first, then roots
    auto const steps = static_cast<std::size_t>(z.steps * both.first.sizes.batch), symbols = std::size_t{5};
    std::vector<double> sums(steps);
    for (std::size_t i = 0; i < steps * symbols; ++i) sums[i / symbols] += chosen[3 * steps + i];
    return sums;
  };
  for (auto const sum : sums_of(tree_root::distribution)) CHECK_THAT(sum, test::WithinAbs(1, 1e-12));
  for (auto const sum : sums_of(tree_root::scores)) CHECK(std::abs(sum - 1) > 1e-3);
}

TEMPLATE_TEST_CASE("every tensor of the tree machine has its gradient added, and nothing is read before it is written",
                   "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  some_trees<double> trees(2, 4, 2, 3, 5);
  some_maps<double> const maps(trees.where, false);
  auto const both = trees.all();
  auto const check = [&](auto const& model) {
    gradient_check_options const few{.directions = 1, .elements = 2};
    auto const report = gradient_check(ex, model, both.first.sizes, both.first,
                                       {trees.batch() * trees.where.count(), trees.symbols}, few);
    CHECK_GRADIENT(report);
  };
  check(rows_of(trees, layer(norm_position::before, 0.3), 1));
  some_trees<double> with_empty(2, 4, 2, 3, 5, 0, 0, true);
  auto const others = with_empty.all();
  CHECK_GRADIENT(gradient_check(ex, rows_of(with_empty, layer(norm_position::before, 0.3), 1), others.first.sizes,
                                others.first, {with_empty.batch() * with_empty.where.count(), with_empty.symbols},
                                {.directions = 1, .elements = 2}));
  if (!test::is_device<TestType>) check(matrices_of(trees, maps, layer(norm_position::after, 0.3), true));
}

double worst(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;  // the sums below would have a NaN
}
void expect_near(test::machine_outcome<double> const& a, test::machine_outcome<double> const& b) {
  CHECK_THAT(a.loss, test::WithinRel(b.loss, 1e-12));
  CHECK(worst(a.scores, b.scores) < 1e-12);
  CHECK(worst(a.gradient, b.gradient) < 1e-12);
  for (auto const* of : {&a, &b}) {
    CHECK(std::isfinite(size_of(of->scores)));
    CHECK(std::isfinite(size_of(of->gradient)));
    CHECK(size_of(of->gradient) > 0.1);
  }
}

TEMPLATE_TEST_CASE("rows and canonical matrices are one machine, and so is the bound of what can be reached and none",
                   "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (index_t branching : {2, 3})
    for (index_t general : {0, 4}) {
      CAPTURE(branching, general);
      some_trees<double> trees(branching, branching == 2 ? 5 : 4, 3, 3, 5, general, 2,
                               general == 0);  // the trees are shallow, and many positions cannot be reached
      some_maps<double> const maps(trees.where, true);
      machine_use<by_rows<>> rows(rows_of(trees, layer(norm_position::before, 0.2), 1));
      machine_use<by_matrices<>> matrices(matrices_of(trees, maps, layer(norm_position::before, 0.2), false, 1));
      CHECK(rows.values() == matrices.values());
      auto const both = trees.all();
      auto const with = rows.run(ex, both.first, both.second);
      expect_near(with, matrices.run(ex, both.first, both.second));
      auto in = both.first;
      CHECK(in.bounds[0] < trees.where.count());
      in.support = {};
      in.bounds = nullptr;
      auto const without = rows.run(ex, in, both.second);
      expect_near(with, without);
      CHECK(worst(with.memory, without.memory) < 1e-12);
    }
}

TEMPLATE_TEST_CASE("roles that are no unit vectors read all of a tree, whatever is known of its positions", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  some_trees<double> trees(2, 4, 2, 2, 5, 4, 2);
  some_maps<double> const maps(trees.where, false);
  machine_use<by_matrices<>> use(matrices_of(trees, maps, layer(norm_position::after)));
  auto const both = trees.all();
  auto in = both.first;
  auto const with = use.run(ex, in, both.second, false);
  in.support = {};
  in.bounds = nullptr;
  CHECK(with.scores == use.run(ex, in, both.second, false).scores);
}

TEMPLATE_TEST_CASE("a batch is its trees one by one", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  some_trees<double> trees(2, 4, 3, 3, 5);
  machine_use<by_rows<>> use(rows_of(trees, layer(norm_position::after)));
  auto const batch = trees.all();
  auto const together = use.run(ex, batch.first, batch.second);
  test::machine_outcome<double> apart;
  apart.gradient.resize(together.gradient.size());
  for (index_t b = 0; b < 3; ++b) {
    auto const one = trees.batch_of(b, 1);
    auto const found = use.run(ex, one.first, one.second);
    apart.loss += found.loss / 3;
    apart.scores.insert(apart.scores.end(), found.scores.begin(), found.scores.end());
    for (std::size_t i = 0; i < found.gradient.size(); ++i) apart.gradient[i] += found.gradient[i] / 3;
  }
  expect_near(together, apart);
}

TEMPLATE_TEST_CASE(
    "memory for inference gives the bits of training's forward, and inputs alone those of keeping everything", "",
    TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto norms : {norm_position::before, norm_position::after}) {
    // The machine is tested with an empty tree and without one.
    some_trees<double> trees(2, 4, 3, 3, 5, 0, 0, norms == norm_position::before);
    machine_use<by_rows<>> use(rows_of(trees, layer(norms, 0.3)));
    auto const both = trees.all();
    auto const kept = use.run(ex, both.first, both.second);
    use.kept = keep::inputs;
    CHECK(use.run(ex, both.first, both.second) == kept);
    use.train = false;
    use.kept = keep::everything;
    auto const whole = use.run(ex, both.first, both.second, false);
    CHECK(whole.scores != kept.scores);  // shows that there was dropout
    use.kept = keep::nothing;
    auto const inferred = use.run(ex, both.first, both.second, false);
    CHECK(inferred.scores == whole.scores);
    CHECK(inferred.chosen == whole.chosen);  // all choices, although only the tokens of two steps are kept
  }
}

TEST_CASE("tree machines of static and of dynamic shape compute the same bits") {
  reference::backend ex;
  using fixed = tree_machine<double, tree_interpreter<double>, width, heads, hidden>;
  for (auto norms : {norm_position::before, norm_position::after}) {
    some_trees<double> trees(2, 3, 2, 3, 5, 4, 0, norms == norm_position::after);
    auto const o = layer(norms, 0.3);
    machine_use<by_rows<>> free(rows_of(trees, o));
    machine_use<fixed> known(fixed(tree_interpreter<double>(trees.where), trees.where.count(), trees.sizes(o, 2)));
    auto const both = trees.all();
    CHECK(free.run(ex, both.first, both.second) == known.run(ex, both.first, both.second));
  }
}

TEST_CASE("a tree machine lists its parameters by name") {
  some_trees<double> const trees(2, 3, 1, 2, 5);
  some_maps<double> const maps(trees.where, true);
  auto const paths = [](auto const& model) {
    std::vector<std::string> all;
    arena measure;
    walk(model.plan_params(measure), [&](std::string const& path, auto) { all.push_back(path); });
    return all;
  };
  auto const all = paths(matrices_of(trees, maps, layer(norm_position::before), true, 1));
  std::vector<std::string> const begin{"operation_token", "root_token", "shrink.weight", "shrink.bias",
                                       "agents.0.layers.0.attention.query.weight"},
      end{"agents.1.norm.gain",   "agents.1.norm.bias", "agents.1.operation.weight", "agents.1.operation.bias",
          "agents.1.root.weight", "agents.1.root.bias", "agents.1.arguments.weight", "agents.1.arguments.bias",
          "interpreter.child0",   "interpreter.child1", "interpreter.cons0",         "interpreter.cons1"};
  CHECK(std::vector<std::string>(all.begin(), all.begin() + 5) == begin);
  CHECK(std::vector<std::string>(all.end() - 12, all.end()) == end);
  CHECK(all.size() == 4 + 2 * (16 + 8) + 4);
  CHECK(paths(matrices_of(trees, maps, layer(norm_position::after), false, 1)).size() == 4 + 2 * (16 + 6));
  some_trees<double> const with_empty(2, 3, 1, 2, 5, 0, 0, true);
  auto const more = paths(rows_of(with_empty, layer(norm_position::before), 1));
  CHECK(std::vector<std::string>(more.begin(), more.begin() + 3) ==
        std::vector<std::string>{"operation_token", "root_token", "empty_token"});
  CHECK(more.size() == 5 + 2 * (16 + 8));
}

TEST_CASE(
    "a tree machine keeps its trees, and of each step what the tokens are; the way back as many trees again, and "
    "W_shrink laid out") {
  index_t const depth = 9, steps = 12, batch = 4, symbols = 40, tree = ((index_t{1} << depth) - 1) * symbols;
  tree_positions<> const where(2, depth);
  tree_machine_options const z{
      steps, symbols, true, {{16, 4, 32, 0.1, norm_position::before, activation::gelu}, 1, 2, symbols}};
  tree_machine<float> const model(tree_interpreter<float>(where), where.count(), z);
  auto const trees = static_cast<std::size_t>((steps + 1) * batch * tree) * sizeof(float);
  auto const saved = planned_bytes([&](arena& a) { (void)model.plan_saved(a, {batch}); });
  CHECK(saved >= trees);
  CHECK(saved <= trees + static_cast<std::size_t>(steps * batch * (steps + 2) * 20 * 16) *
                             sizeof(float));  // 20 numbers for each column of every token Inference keeps the tokens of
                                              // two steps, and the choices of all steps.
  auto const chosen = static_cast<std::size_t>(steps * batch * (2 * steps * 4 + 3 + symbols)) * sizeof(float);
  auto const nothing = planned_bytes([&](arena& a) { (void)model.plan_saved(a, {batch}, keep::nothing); });
  CHECK(nothing >= trees + chosen);
  CHECK((nothing - trees - chosen) * 5 < saved - trees - chosen);
  cpu::backend ex;
  arena values, gradients, kept;
  auto const w = model.plan_params<float const>(values);
  auto const s = model.plan_saved(kept, {batch});
  auto const scores = model.plan_output(kept, {batch});
  auto const scratch = planned_scratch(ex, call{.train = true}, [&](auto& dry, call const& c) {
    model.forward(dry, c, w, model.measured_input({batch}), s, scores);
    model.backward(dry, c, w, model.measured_input({batch}), s, scores, model.plan_params(gradients));
  });
  CHECK(scratch >= trees);
  auto const shrink = static_cast<std::size_t>(16 * tree) * sizeof(float);
  CHECK(scratch <= trees + trees / 8 + shrink + shrink / 4);  // memory has a few more rows than the trees
}

TEST_CASE("what a tree machine remembers is memory and sizes alone: another machine in its place changes neither") {
  some_trees<double> const trees(2, 3, 2, 2, 4);
  auto machine = rows_of(trees, layer(norm_position::after));
  buffer<host_memory> const held(planned_bytes([&](arena& a) { (void)machine.plan_saved(a, {2}); }));
  auto place = held.place();
  auto const s = machine.plan_saved(place, {2});
  auto narrow = layer(norm_position::after);
  narrow.width = 4;
  machine = rows_of(trees, narrow);
  CHECK(s.at(1).in.extent(1) == width);
}

TEST_CASE("a tree machine of impossible sizes is refused with a sentence") {
  some_trees<double> const trees(2, 3, 1, 2, 5, 4);
  auto z = trees.sizes(layer(norm_position::after), 1);
  auto const made = [&] { return tree_machine<double>(tree_interpreter<double>(trees.where), trees.where.count(), z); };
  CHECK_NOTHROW(made());
  z.unit_fillers = true;
  CHECK_THROWS_WITH(made(), test::contains("tree_machine: unit fillers of width "));
  z.unit_fillers = false, z.root = tree_root::distribution;
  CHECK_THROWS_WITH(made(), test::contains("a root that is a distribution of symbols, expected unit fillers"));
  z = trees.sizes(layer(norm_position::after), 1);
  z.agent.branching = 3;
  CHECK_THROWS_WITH(made(), test::contains("of the interpreter, expected"));
  z = trees.sizes(layer(norm_position::after), 0);
  CHECK_THROWS_WITH(made(), test::contains("neural_tree_agent: layers is 0, expected 1 to 255"));
  z = trees.sizes(layer(norm_position::after), 1);
  z.steps = 0;
  CHECK_THROWS_WITH(made(), test::contains("tree_machine: steps is 0, expected 1 to 255"));
}

}  // namespace models_tree_machine_tests
