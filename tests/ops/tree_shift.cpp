// Tests soft tree operations. They must be mixtures of the algebra's car, cdr and cons, gradients must be adjoints, and
// all backends must have the same results.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/tree_shift.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/tree/gather.hpp"

namespace ops_tree_shift_tests {

using namespace triad;

/// Memory for `slots` + 1 trees for each sample, and all operands and results of the operations.
template <class T>
struct problem {
  tree_positions<> where;
  index_t batch, slots, fillers, arguments = 2 * where.branching(), tree = where.count() * fillers;
  std::vector<std::uint8_t> first;
  std::vector<index_t> since;
  std::vector<T> memory, w, root, dw, d_root, d_memory;

  problem(index_t branching, index_t depth, index_t b, index_t l, index_t f, bool sparse = false)
      : where(branching, depth),
        batch(b),
        slots(l),
        fillers(f),
        memory(test::random_values<T>((l + 1) * b * tree, 1)),
        w(test::random_values<T>(l * b * l * arguments, 2)),
        root(test::random_values<T>(b * f, 3)),
        dw(w.size()),
        d_root(root.size()),
        d_memory(test::random_values<T>((l + 1) * b * tree, 5)) {
    if (!sparse) return;
    auto const count = where.count();
    std::vector<bool> now(static_cast<std::size_t>(count));
    first.assign(now.size(), 0), since.assign(now.size(), l + 1);
    for (index_t q = 0; q < count; ++q) {
      now[static_cast<std::size_t>(q)] = q % 5 == 0 || q < 2;
      first[static_cast<std::size_t>(q)] = now[static_cast<std::size_t>(q)];
    }
    for (index_t s = 1; s <= l; ++s) {
      auto next = now;
      next[0] = true;
      for (index_t q = 0; q < count; ++q)
        if (now[static_cast<std::size_t>(q)])
          reference::each_target(where, q, [&](index_t, index_t to) { next[static_cast<std::size_t>(to)] = true; });
      for (index_t q = 0; q < count; ++q)
        if (auto const at = static_cast<std::size_t>(q); next[at] && since[at] > s) since[at] = s;
      now = next;
    }
    for (index_t s = 0; s <= l; ++s)
      for (index_t i = 0; i < b; ++i)
        for (index_t q = 0; q < count; ++q)
          if (!support().has(s, q))
            for (index_t c = 0; c < f; ++c) memory[static_cast<std::size_t>(((s * b + i) * count + q) * f + c)] = T(0);
  }

  tree_support support() const {
    if (since.empty()) return {};
    return {make_vec(first.data(), where.count()), make_vec(since.data(), where.count())};
  }
  template <class S>
  tree_memory_view<S> trees(S* data) const {
    return tree_memory_view<S>(data, slots + 1, batch, where.count(), fillers);
  }
  template <class S>
  tree_weights_view<S> weights(S* data) const {
    return tree_weights_view<S>(data, slots, batch, slots, arguments);
  }
  T const* tree_at(index_t slot, index_t sample) const { return memory.data() + (slot * batch + sample) * tree; }

  /// Runs the last step, and then computes the gradients of all slots.
  template <class Ex>
  void run(Ex&& ex) {
    tree_shift(ex, where, support(), slots - 1, weights<T const>(w.data()),
               make_matrix<T const>(root.data(), batch, fillers, fillers), trees(memory.data()));
    test::with_scratch(ex, {}, [&](auto& on, call const& c) {
      tree_shift_dots(on, *c.scratch, where, support(), slots - 1, trees<T const>(memory.data()),
                      trees<T const>(d_memory.data()), weights(dw.data()),
                      make_matrix(d_root.data(), batch, fillers, fillers));
    });
    for (index_t l = slots - 1; l >= 0; --l)
      tree_shift_grad(ex, where, support(), weights<T const>(w.data()), l, trees(d_memory.data()));
  }
};

template <class T>
double product(T const* a, T const* b, std::size_t count) {
  double s = 0;
  for (std::size_t i = 0; i < count; ++i) s += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return s;
}

TEMPLATE_TEST_CASE("a soft step is the algebra's children and cons, blended by the weights", "", TRIAD_TEST_BACKENDS) {
  for (index_t branching : {2, 3}) {
    problem<double> p(branching, 4, 2, 3, 5);
    p.run(std::remove_cvref_t<TestType>());
    gather_algebra<double> const algebra(p.where, p.fillers);
    for (index_t b = 0; b < p.batch; ++b) {
      std::vector<double> expected(static_cast<std::size_t>(p.tree));
      auto const y = algebra.over(expected.data());
      algebra.add_bound(1, root_role, make_vec<double const>(p.root.data() + b * p.fillers, p.fillers), y);
      for (index_t l = 0; l < p.slots; ++l)
        for (index_t c = 0; c < branching; ++c) {
          tensor<double const, dyn, dyn> const m(p.tree_at(l, b), p.where.count(), p.fillers);
          auto const* const w = p.w.data() + (((p.slots - 1) * p.batch + b) * p.slots + l) * p.arguments;
          algebra.add_child(w[c], c, m, y);
          algebra.add_graft(w[branching + c], c, m, y);
        }
      auto const* const found = p.tree_at(p.slots, b);
      for (index_t i = 0; i < p.tree; ++i)
        CHECK_THAT(found[i], test::WithinAbs(expected[static_cast<std::size_t>(i)], 1e-12));
    }
  }
}

TEMPLATE_TEST_CASE("a soft step is linear, and its gradients are the adjoints", "", TRIAD_TEST_BACKENDS) {
  for (bool sparse : {false, true})
    for (index_t branching : {2, 3, 5}) {
      problem<double> p(branching, branching == 2 ? 5 : 3, 3, 1, 4, sparse);
      p.run(std::remove_cvref_t<TestType>());
      auto const one_slot = static_cast<std::size_t>(p.batch * p.tree);
      double const value = product(p.memory.data() + one_slot, p.d_memory.data() + one_slot, one_slot);
      double const of_root = product(p.root.data(), p.d_root.data(), p.root.size());
      CHECK_THAT(of_root + product(p.w.data(), p.dw.data(), p.w.size()), test::WithinAbs(value, 1e-10));
      double of_memory = 0;  // positions outside the support have no gradient
      for (std::size_t i = 0; i < one_slot; ++i)
        if (p.memory[i] != 0) of_memory += p.memory[i] * p.d_memory[i];
      CHECK_THAT(of_root + of_memory, test::WithinAbs(value, 1e-10));
    }
}

TEMPLATE_TEST_CASE("the gradient of a slot gathers all later steps", "", TRIAD_TEST_BACKENDS) {
  // In each of three steps, only slot 0 has a weight. So its gradient is the sum of the gradients of three steps.
  problem<double> all(2, 4, 2, 3, 6);
  for (std::size_t i = 0; i < all.w.size(); ++i)
    if (i / static_cast<std::size_t>(all.arguments) % 3 != 0) all.w[i] = 0;
  auto const begun = all;
  std::remove_cvref_t<TestType> ex;
  auto const back = [&](problem<double> const& p, std::vector<double>& d) {
    tree_shift_grad(ex, p.where, tree_support(), p.weights<double const>(p.w.data()), 0, p.trees(d.data()));
  };
  auto found = begun.d_memory;
  back(begun, found);
  std::vector<double> sum(static_cast<std::size_t>(begun.batch * begun.tree));
  for (std::size_t k = 0; k < 3; ++k) {
    auto single = begun;
    auto const of_step = begun.w.size() / 3;
    for (std::size_t i = 0; i < single.w.size(); ++i)
      if (i / of_step != k) single.w[i] = 0;
    back(single, single.d_memory);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += single.d_memory[i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i) CHECK_THAT(found[i], test::WithinAbs(sum[i], 1e-12));
}

template <class T>
void check_near(problem<T> const& found, problem<double> const& expected, double tolerance) {
  CHECK(test::distance(found.memory, expected.memory) < tolerance);
  CHECK(test::distance(found.dw, expected.dw) < tolerance);
  CHECK(test::distance(found.d_root, expected.d_root) < tolerance);
  CHECK(test::distance(found.d_memory, expected.d_memory) < tolerance);
}

TEMPLATE_TEST_CASE("soft steps are those of the reference", "", TRIAD_TEST_BACKENDS) {
  for (bool sparse : {false, true})
    for (index_t branching : {2, 3, 9})
      for (index_t depth : {1, 2, branching == 2 ? 7 : 3})
        for (index_t fillers : {1, 8, 37, 70, 127, 130, 300}) {  // a lane's columns, once and several times
          index_t const slots = 1 + (fillers + depth) % 4;
          CAPTURE(sparse, branching, depth, fillers, slots);
          problem<double> exact(branching, depth, 2, slots, fillers, sparse), found = exact;
          exact.run(reference::backend());
          found.run(std::remove_cvref_t<TestType>());
          check_near(found, exact, 1e-13);
        }
}

TEMPLATE_TEST_CASE("soft steps over many slots of long levels are those of the reference", "", TRIAD_TEST_BACKENDS) {
  // A device adds products by runs of 32 positions and by groups of 4 slots.  The last level has 128 positions below a
  // child, or 81.
  for (bool sparse : {false, true})
    for (index_t branching : {2, 3})
      for (index_t slots : {4, 5, 9}) {
        CAPTURE(sparse, branching, slots);
        problem<double> exact(branching, branching == 2 ? 9 : 6, 2, slots, 33, sparse), found = exact;
        exact.run(reference::backend());
        found.run(std::remove_cvref_t<TestType>());
        check_near(found, exact, 1e-13);
      }
}

TEST_CASE("soft steps in float on the cpu equal the reference in double, whatever the threads") {
  for (bool sparse : {false, true})
    for (index_t branching : {2, 3, 4, 9})
      for (index_t depth : {1, 2, 3, branching == 2 ? 7 : 3})
        for (index_t fillers : {1, 15, 16, 37, 101}) {
          index_t const slots = 1 + (fillers + depth) % 9;
          CAPTURE(sparse, branching, depth, fillers, slots);
          problem<double> exact(branching, depth, 3, slots, fillers, sparse);
          problem<float> one(branching, depth, 3, slots, fillers, sparse), two = one;
          exact.run(reference::backend());
          one.run(cpu::backend(1));
          two.run(cpu::backend(2));
          CHECK(one.memory == two.memory);
          CHECK(one.dw == two.dw);
          CHECK(one.d_memory == two.d_memory);
          check_near(one, exact, 1e-5);  // allows for sums of up to ten thousand numbers of size one
        }
}

template <class T, class Ex>
void check_anything_anywhere(Ex ex) {
  problem<T> all(2, 4, 2, 3, 5), anywhere = all;
  anywhere.first.assign(static_cast<std::size_t>(all.where.count()), 1);
  anywhere.since.assign(anywhere.first.size(), 0);
  for (auto* p : {&all, &anywhere}) p->run(ex);
  CHECK((anywhere.memory == all.memory && anywhere.dw == all.dw && anywhere.d_memory == all.d_memory));
}

TEMPLATE_TEST_CASE("anything anywhere, from the first slot on, is no restriction", "", TRIAD_TEST_BACKENDS) {
  check_anything_anywhere<double>(std::remove_cvref_t<TestType>());
}
TEST_CASE("in float on the cpu, too, anything anywhere is no restriction") {
  check_anything_anywhere<float>(cpu::backend(1));
}

TEST_CASE("a soft step without room for its tree is refused with a sentence") {
  problem<double> p(2, 3, 1, 2, 3);
  reference::backend ex;
  auto const w = p.weights<double const>(p.w.data());
  auto const root = make_matrix<double const>(p.root.data(), 1, 3, 3);
  CHECK_THROWS_WITH(
      tree_shift(ex, p.where, tree_support(), 1, w, root, tree_memory_view<double>(p.memory.data(), 2, 1, 7, 3)),
      test::contains("writes slot 2, expected a slot below 2"));
  CHECK_THROWS_WITH(tree_shift(ex, p.where, tree_support(), 2, w, root, p.trees(p.memory.data())),
                    test::contains("step 2, expected one of the 2 steps"));
  CHECK_THROWS_WITH(tree_shift(ex, tree_positions<>(2, 4), tree_support(), 1, w, root, p.trees(p.memory.data())),
                    test::contains("7 positions of memory, expected 15"));
  // There are weights for more slots than the memory has.
  std::vector<double> many(static_cast<std::size_t>(4 * 4));
  tree_weights_view<double const> const of_four(many.data(), 1, 1, 4, 4);
  CHECK_THROWS_WITH(
      tree_shift_grad(ex, p.where, tree_support(), of_four, 3, tree_memory_view<double>(p.memory.data(), 2, 1, 7, 3)),
      test::contains("slot 3, expected one of the 4 slots that steps read and the 2 of the memory"));
}

}  // namespace ops_tree_shift_tests
