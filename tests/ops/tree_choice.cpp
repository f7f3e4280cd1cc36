// Tests soft choices, with and without noise and a temperature. Weights must add up to one, and gradients must equal
// finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/tree_choice.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"

namespace ops_tree_choice_tests {

using namespace triad;

/// One step of a machine in double, with random cotangents of the weights and of the root.
struct problem {
  index_t batch, branching, step, fillers, slots = step + 2, arguments = 2 * branching,
                                           // the logits of two tokens, of the trees' tokens, and of one more token
      row = (step + 4) * arguments;
  choice_over over;
  bool noisy_operation, noisy_argument;
  double evenness = 0, recency = 0;
  bool empty = false;  // there is an empty tree
  index_t trees() const { return step + 1 + (empty ? 1 : 0); }
  std::vector<double> operation, argument, root, operation_noise, argument_noise;
  std::vector<double> chosen_operation, chosen, weights, weighted_root, d_weights, d_root;
  std::vector<double> dx_operation, dx_argument, dx_root;

  problem(index_t b, index_t branch, index_t k, choice_over o, bool on_operation, bool on_argument)
      : batch(b),
        branching(branch),
        step(k),
        fillers(5),
        over(o),
        noisy_operation(on_operation),
        noisy_argument(on_argument),
        operation(test::random_values<double>(b * (branch + 1), 1)),
        argument(test::random_values<double>(b * row, 2, 2.0)),
        root(test::random_values<double>(b * fillers, 3)),
        operation_noise(test::random_values<double>(b * (branch + 1), 4)),
        argument_noise(test::random_values<double>(b * row, 5)),
        chosen_operation(operation.size()),
        chosen(static_cast<std::size_t>(slots * b * slots * arguments)),
        weights(chosen.size()),
        weighted_root(root.size()),
        d_weights(test::random_values<double>(slots * b * slots * arguments, 6)),
        d_root(test::random_values<double>(b * fillers, 7)),
        dx_operation(operation.size()),
        dx_argument(argument.size()),
        dx_root(root.size()) {}

  tree_choice_options<double> options() const {
    tree_choice_options<double> t;
    t.over = over;
    t.evenness = evenness;
    t.recency = recency;
    t.empty_tree = empty;
    if (noisy_operation) {
      t.operation_temperature = 0.7;
      t.operation_noise = make_matrix(operation_noise.data(), batch, branching + 1, branching + 1);
    }
    if (noisy_argument) {
      t.argument_temperature = 1.6;
      t.argument_noise = make_matrix(argument_noise.data() + 2 * arguments, batch, trees() * arguments, row);
    }
    return t;
  }
  template <class S>
  tree_logits<S> logits(S* o, S* a, S* r) const {
    return {make_matrix(o, batch, branching + 1, branching + 1),
            make_matrix(a + 2 * arguments, batch, trees() * arguments, row), make_matrix(r, batch, fillers, fillers)};
  }
  template <class S>
  tree_weights_view<S> all(S* data) const {
    return tree_weights_view<S>(data, slots, batch, slots, arguments);
  }
  template <class S>
  tree_choices<S> choices(S* o, S* a) const {
    return {make_matrix(o, batch, branching + 1, branching + 1), all(a)};
  }

  template <class Ex>
  double value(Ex&& ex) {
    tree_choice(ex, options(), step, logits<double const>(operation.data(), argument.data(), root.data()),
                choices(chosen_operation.data(), chosen.data()), all(weights.data()),
                make_matrix(weighted_root.data(), batch, fillers, fillers));
    double sum = 0;
    for (index_t b = 0; b < batch; ++b)
      for (index_t i = 0; i < trees() * arguments; ++i) {
        auto const at = static_cast<std::size_t>((step * batch + b) * slots * arguments + i);
        sum += weights[at] * d_weights[at];
      }
    for (std::size_t i = 0; i < root.size(); ++i) sum += weighted_root[i] * d_root[i];
    return evenness > 0 ? sum + evenness * from_even() : sum;
  }
  /// Returns the evenness term: the sum of KL(u | p) over all choices of the step.
  double from_even() const {
    double sum = 0;
    auto const add = [&](index_t count, auto&& p) {
      for (index_t i = 0; i < count; ++i)
        sum -= (std::log(p(i)) + std::log(static_cast<double>(count))) / static_cast<double>(count);
    };
    auto const p = all(chosen.data());
    for (index_t b = 0; b < batch; ++b) {
      add(branching + 1,
          [&](index_t j) { return chosen_operation[static_cast<std::size_t>(b * (branching + 1) + j)]; });
      for (index_t c = 0; c < arguments && over == choice_over::trees; ++c)
        add(trees(), [&](index_t l) { return p(step, b, l, c); });
      for (index_t l = 0; l < trees() && over == choice_over::arguments; ++l)
        add(arguments, [&](index_t c) { return p(step, b, l, c); });
    }
    return sum;
  }
  template <class Ex>
  void gradient(Ex&& ex) {
    tree_choice_grad(ex, options(), step, make_matrix<double const>(root.data(), batch, fillers, fillers),
                     choices<double const>(chosen_operation.data(), chosen.data()), all<double const>(d_weights.data()),
                     make_matrix<double const>(d_root.data(), batch, fillers, fillers),
                     logits(dx_operation.data(), dx_argument.data(), dx_root.data()));
  }
};

TEMPLATE_TEST_CASE("choices are distributions over the trees, one for each argument, and over the operations", "",
                   TRIAD_TEST_BACKENDS) {
  problem p(3, 2, 4, choice_over::trees, true, true);
  (void)p.value(std::remove_cvref_t<TestType>());
  auto const chosen = p.all(p.chosen.data());
  for (index_t b = 0; b < p.batch; ++b) {
    double sum = 0;
    for (index_t j = 0; j < 3; ++j) sum += p.chosen_operation[static_cast<std::size_t>(b * 3 + j)];
    CHECK_THAT(sum, test::WithinAbs(1, 1e-14));
    for (index_t c = 0; c < 4; ++c) {
      double over_trees = 0, weighted = 0;
      for (index_t l = 0; l <= 4; ++l)
        over_trees += chosen(4, b, l, c), weighted += p.all(p.weights.data())(4, b, l, c);
      CHECK_THAT(over_trees, test::WithinAbs(1, 1e-14));
      CHECK_THAT(weighted,
                 test::WithinAbs(p.chosen_operation[static_cast<std::size_t>(b * 3 + std::min<index_t>(c, 2))], 1e-14));
    }
  }
}

TEMPLATE_TEST_CASE("the gradient of a choice is that of finite differences", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (auto const over : {choice_over::trees, choice_over::arguments})
    for (auto const& [operations, arguments] : {std::pair(false, false), {true, false}, {false, true}, {true, true}})
      for (auto const& [branching, empty] : {std::pair<index_t, bool>(2, false), {3, false}, {3, true}}) {
        CAPTURE(over == choice_over::trees, operations, arguments, branching, empty);
        problem p(2, branching, 3, over, operations, arguments);
        p.evenness = branching == 3 ? 0.7 : 0;
        p.empty = empty;
        p.recency = empty ? 0.4 : 0;
        (void)p.value(ex);
        p.gradient(ex);
        auto const check = [&](std::vector<double>& x, std::vector<double> const& dx) {
          test::check_differences(x, dx, [&] { return p.value(ex); });
        };
        check(p.operation, p.dx_operation);
        check(p.argument, p.dx_argument);  // 0 for tokens that are not trees
        check(p.root, p.dx_root);
      }
}

TEMPLATE_TEST_CASE("recency takes as much from a tree as it is old, and nothing from the input and the empty tree", "",
                   TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (bool const noisy : {false, true}) {
    problem p(1, 2, 3, choice_over::trees, false, noisy);
    p.empty = true, p.recency = 0.5;
    p.argument.assign(p.argument.size(), 0.25);
    p.argument_noise.assign(p.argument_noise.size(), 0.125);
    (void)p.value(ex);
    auto const chosen = p.all(p.chosen.data());
    double const temperature = noisy ? 1.6 : 1;
    for (index_t c = 0; c < 4; ++c) {
      double const newest = chosen(3, 0, 3, c);
      CHECK_THAT(chosen(3, 0, 2, c), test::WithinAbs(newest * std::exp(-0.5 / temperature), 1e-14));
      CHECK_THAT(chosen(3, 0, 1, c), test::WithinAbs(newest * std::exp(-1 / temperature), 1e-14));
      CHECK_THAT(chosen(3, 0, 0, c), test::WithinAbs(newest, 1e-14));  // the input tree
      CHECK_THAT(chosen(3, 0, 4, c), test::WithinAbs(newest, 1e-14));  // the empty tree
    }
  }
}

TEMPLATE_TEST_CASE("evenness brings a choice back that is sure, where all else has no slope", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  problem p(1, 2, 3, choice_over::trees, false, false);
  p.operation = {60, 0, 0};
  p.d_root.assign(p.d_root.size(), 0);
  (void)p.value(ex);
  p.gradient(ex);
  CHECK_THAT(p.dx_operation[0], test::WithinAbs(0, 1e-20));
  p.evenness = 0.5;
  p.gradient(ex);
  CHECK_THAT(p.dx_operation[0], test::WithinAbs(0.5 * 2 / 3, 1e-12));
  CHECK_THAT(p.dx_operation[1], test::WithinAbs(-0.5 / 3, 1e-12));
}

TEMPLATE_TEST_CASE("noise and temperature of operations leave arguments alone, and those of arguments operations", "",
                   TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (auto const over : {choice_over::trees, choice_over::arguments}) {
    auto const chosen = [&](bool operations, bool arguments) {
      problem p(3, 2, 4, over, operations, arguments);
      (void)p.value(ex);
      return std::pair(p.chosen_operation, p.chosen);
    };
    auto const neither = chosen(false, false), both = chosen(true, true);
    auto const operations = chosen(true, false), arguments = chosen(false, true);
    CHECK(operations.first != neither.first);
    CHECK(operations.second == neither.second);
    CHECK(arguments.first == neither.first);
    CHECK(arguments.second != neither.second);
    CHECK(both == std::pair(operations.first, arguments.second));
  }
}

TEST_CASE("choices of a wrong shape are refused with a sentence") {
  problem p(2, 2, 3, choice_over::trees, false, false);
  reference::backend ex;
  auto x = p.logits<double const>(p.operation.data(), p.argument.data(), p.root.data());
  auto const root = make_matrix(p.weighted_root.data(), 2, 5, 5);
  CHECK_THROWS_WITH(tree_choice(ex, p.options(), 2, x, p.choices(p.chosen_operation.data(), p.chosen.data()),
                                p.all(p.weights.data()), root),
                    test::contains("expected (2, 12)"));
  using options = tree_choice_options<double>;
  for (auto const temperature : {&options::operation_temperature, &options::argument_temperature}) {
    auto cold = p.options();
    cold.*temperature = 0;
    auto const chosen = p.choices(p.chosen_operation.data(), p.chosen.data());
    CHECK_THROWS_WITH(tree_choice(ex, cold, 3, x, chosen, p.all(p.weights.data()), root),
                      test::contains("temperature"));
  }
  auto wrong = p.options();
  wrong.recency = -1;
  CHECK_THROWS_WITH(tree_choice(ex, wrong, 3, x, p.choices(p.chosen_operation.data(), p.chosen.data()),
                                p.all(p.weights.data()), root),
                    test::contains("recency is -1"));
}

TEST_CASE("a step that there is no room for is refused, and an empty tree is one more to choose") {
  problem p(2, 2, 3, choice_over::trees, false, false);
  reference::backend ex;
  auto const root = make_matrix(p.weighted_root.data(), 2, 5, 5);
  auto const refused = [&](auto const& weights, std::string const& why) {
    auto const x = p.logits<double const>(p.operation.data(), p.argument.data(), p.root.data());
    auto const dx = p.logits<double>(p.dx_operation.data(), p.dx_argument.data(), p.dx_root.data());
    auto const read_only = tree_weights_view<double const>(weights);
    tree_choices<double> const chosen{make_matrix(p.chosen_operation.data(), 2, 3, 3), weights};
    tree_choices<double const> const made{make_matrix<double const>(p.chosen_operation.data(), 2, 3, 3), read_only};
    CHECK_THROWS_WITH(tree_choice(ex, p.options(), 3, x, chosen, weights, root),
                      test::contains("tree_choice: step " + why));
    CHECK_THROWS_WITH(tree_choice_grad(ex, p.options(), 3, make_matrix<double const>(p.root.data(), 2, 5, 5), made,
                                       read_only, make_matrix<double const>(p.d_root.data(), 2, 5, 5), dx),
                      test::contains("tree_choice_grad: step " + why));
  };
  auto const view = [&](index_t steps, index_t slots) {
    return tree_weights_view<double>(p.weights.data(), steps, 2, slots, 4);
  };
  refused(view(3, 4), "is 3, expected 0 to 2");
  refused(view(4, 3), "3 chooses from 4 trees, expected at most 3");
  p.empty = true;
  refused(view(4, 4), "3 chooses from 5 trees, expected at most 4");
}

}  // namespace ops_tree_choice_tests
