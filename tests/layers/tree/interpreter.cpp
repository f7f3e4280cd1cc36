// Tests the two interpreters of a tree machine, which compute by rows and by matrices: the gradients of several steps,
// and that both interpreters have the same results.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/tree/interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "tests/role_matrices.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/gradient_check.hpp"

namespace layers_interpreter_tests {

using namespace triad;
using test::some_maps;

constexpr index_t batch = 2, steps = 3, fillers = 4;

/// An interpreter as a layer. Its input is one row with the first trees, and the weights and roots of all steps. Its
/// output has the fillers of the last trees.
template <class Interpreter>
struct program {
  using value_type = double;
  using input = tensor<double const, dyn, dyn>;
  using output = tensor<double, dyn, dyn>;  // (batch N, f)
  Interpreter interpreter;
  index_t positions, arguments;

  index_t first_trees() const { return batch * interpreter.rows() * fillers; }
  index_t weights() const { return steps * batch * steps * arguments; }
  index_t numbers() const { return first_trees() + weights() + steps * batch * fillers; }

  template <class S>
  using fields = fields_of<Interpreter, S>;
  template <class S = double>
  fields<S> plan_params(arena& place) const {
    return plan<S>(interpreter, place);
  }
  using saved = tree_pass<double>;
  saved plan_saved(arena& place, row_dims, keep) const {
    auto const memory = place.make<tree_memory_view<double>>(steps + 1, batch, interpreter.rows(), fillers);
    return {{}, memory, place.make<tree_weights_view<double>>(steps, batch, steps, arguments)};
  }
  template <class S>
  vec<S> part(tensor<S, dyn, dyn> x, index_t first, index_t count) const {
    return make_vec(x.data_handle() + first, count);
  }
  template <class S>
  matrix<S> root(tensor<S, dyn, dyn> x, index_t k) const {
    return make_matrix(x.data_handle() + first_trees() + weights() + k * batch * fillers, batch, fillers, fillers);
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<double const> w, input x, saved const& s, output y) const {
    auto const frame = c.scratch->open();
    transform(ex, unchanged{}, part(x, 0, first_trees()), as_vec(tree_slot(s.memory, 0)));
    transform(ex, unchanged{}, part(x, first_trees(), weights()), as_vec(s.weights));
    for (index_t k = 0; k < steps; ++k) interpreter.forward(ex, c, w, s, k, root(x, k));
    auto const found = interpreter.unbind(ex, w, *c.scratch, s, steps);
    transform(ex, unchanged{}, make_vec(found.data_handle(), batch * positions * fillers), as_vec(y));
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<double const> w, input, saved const& s, const_view<output> dy,
                tensor<double, dyn, dyn> dx, fields<double> gradient) const {
    auto const frame = c.scratch->open();
    auto const d_memory =
        c.scratch->template make<tree_memory_view<double>>(steps + 1, batch, interpreter.rows(), fillers);
    tree_weights_view<double> const dw(dx.data_handle() + first_trees(), steps, batch, steps, arguments);
    fill(ex, 0.0, dx);
    interpreter.unbind_grad(ex, w, as_matrix(dy), tree_slot(d_memory, steps));
    interpreter.begin_backward(ex, d_memory);
    for (index_t k = steps - 1; k >= 0; --k) {
      interpreter.backward(ex, c, w, s, k, d_memory, dw, root(dx, k), gradient);
      interpreter.complete(ex, s, k, d_memory);
    }
    transform(ex, unchanged{}, read_only(as_vec(tree_slot(d_memory, 0))), part(dx, 0, first_trees()));
  }
};
using by_rows = program<tree_interpreter<double>>;
using by_matrices = program<matrix_interpreter<double>>;

by_rows rows_of(tree_positions<> where) {
  return {tree_interpreter<double>(where), where.count(), 2 * where.branching()};
}
by_matrices matrices_of(tree_positions<> where, some_maps<double> const& maps, bool learned) {
  return {maps.interpreter(learned), where.count(), 2 * where.branching()};
}

template <class Ex, class Layer>
void check_gradient(Ex& ex, Layer const& layer) {
  auto const x = test::random_values(layer.numbers(), 1);
  auto const report =
      gradient_check(ex, layer, row_dims(1), tensor<double const, dyn, dyn>(x.data(), 1, layer.numbers()),
                     {batch * layer.positions, fillers}, {.directions = 2, .elements = 30});
  CHECK_GRADIENT(report);
}

TEMPLATE_TEST_CASE("interpreters have the gradients of three steps: of trees, weights, roots and matrices", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto const& where : {tree_positions<>(2, 4), tree_positions<>(3, 3), tree_positions<>(2, 1)}) {
    CAPTURE(where.branching(), where.depth());
    check_gradient(ex, rows_of(where));
    some_maps<double> const maps(where, false, where.count() + 2);
    check_gradient(ex, matrices_of(where, maps, false));
    check_gradient(ex, matrices_of(where, maps, true));
  }
}

/// Returns the fillers of the last trees. Also returns the gradients of a random linear function of these fillers, with
/// respect to the first trees, the weights and the roots.
template <class Ex, class Layer>
std::vector<double> result(Ex& ex, Layer const& layer) {
  gradient_check_options const options;
  auto const x = test::random_values(layer.numbers(), 1);
  tensor<double const, dyn, dyn> const in(x.data(), 1, layer.numbers());
  detail::layer_under_check<Ex, Layer, row_dims> bench(ex, layer, row_dims(1), in, {batch * layer.positions, fillers},
                                                       options);
  auto d = bench.start();
  bench.gradient(bench.start(), d);
  d.back().values.push_back(bench.value(bench.start()));
  return d.back().values;
}

TEMPLATE_TEST_CASE("rows and matrices over canonical roles do the same", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto const& where : {tree_positions<>(2, 4), tree_positions<>(3, 3)}) {
    some_maps<double> const maps(where, true);
    auto const a = result(ex, rows_of(where)), b = result(ex, matrices_of(where, maps, false));
    REQUIRE(a.size() == b.size());
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK_THAT(a[i], test::WithinAbs(b[i], 1e-12));
      sum += std::abs(a[i]);
    }
    CHECK(sum > 1);
  }
}

TEMPLATE_TEST_CASE("symbols that are bound to positions come back where they were", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  tree_positions<> const where(2, 3);
  some_maps<double> const maps(where, false, 9);
  auto table = test::random_values(5 * fillers, 3);
  std::fill_n(table.begin(), fillers, 0.0);
  std::vector<index_t> const symbols{4, 0, 1, 0, 0, 2, 3, 1, 1, 0, 2, 0, 0, 0};
  auto const check = [&](auto const& layer) {
    test::spoiled_memory const memory([&](arena& a) {
      (void)layer.plan_params(a);
      return layer.plan_saved(a, row_dims(1), keep::everything);
    });
    auto place = memory.place();
    auto const w = plan<double const>(layer, place);
    auto const pass = layer.plan_saved(place, row_dims(1), keep::everything);
    std::vector<double> found(symbols.size() * fillers);
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      auto const frame = c.scratch->open();
      layer.interpreter.bind(backend, w, tensor<double const, dyn, dyn>(table.data(), 5, fillers),
                             make_vec(symbols.data(), batch * where.count()), *c.scratch, pass);
      auto const back = layer.interpreter.unbind(backend, w, *c.scratch, pass, 0);
      transform(backend, unchanged{}, make_vec(back.data_handle(), batch * where.count() * fillers),
                make_vec(found.data(), batch * where.count() * fillers));
    });
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK_THAT(found[i],
                 test::WithinAbs(table[static_cast<std::size_t>(symbols[i / fillers]) * fillers + i % fillers], 1e-12));
    }
  };
  check(rows_of(where));
  check(matrices_of(where, maps, false));
}

TEST_CASE("matrices and roles of another shape are refused with a sentence") {
  reference::backend ex;
  tree_positions<> const where(2, 3);
  some_maps<double> const maps(where, true);
  auto layer = matrices_of(where, maps, false);
  CHECK_NOTHROW(result(ex, layer));
  layer.interpreter.maps = {};
  CHECK_THROWS_WITH(result(ex, layer), test::contains("matrix_interpreter: maps is ("));
  layer.interpreter.learned = true;
  CHECK_NOTHROW(result(ex, layer));
  layer.interpreter.roles = {};
  CHECK_THROWS_WITH(result(ex, layer), test::contains("matrix_interpreter: roles is ("));
}

TEST_CASE("learned matrices are parameters with the names of their operations, constant ones are none") {
  tree_positions<> const where(3, 2);
  some_maps<double> const maps(where, true);
  for (bool learned : {false, true}) {
    std::vector<std::string> paths;
    arena measure;
    walk(matrices_of(where, maps, learned).plan_params(measure),
         [&](std::string const& path, auto) { paths.push_back(path); });
    CHECK(paths == (learned ? std::vector<std::string>{"child0", "child1", "child2", "cons0", "cons1", "cons2"}
                            : std::vector<std::string>{}));
  }
}

}  // namespace layers_interpreter_tests
