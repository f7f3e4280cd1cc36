// Tests the laws of the tree algebra for every form, branching and depth. All forms must have the same results.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/algebra.hpp"

#include <array>

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"

namespace tree_algebra_tests {

using namespace triad;
using namespace triad::test;
using triad::test::contains;

template <class T>
constexpr double rounding = sizeof(T) > 4 ? 1e-12 : 1e-4;

struct shape {
  index_t branching, depth, fillers;
};
constexpr shape shapes[] = {{2, 1, 3}, {2, 2, 1}, {2, 4, 5}, {3, 3, 4}, {5, 2, 2}};

/// Calls f(algebra, stream) for algebras of every shape.
template <class Form, class F>
void every_shape(F&& f) {
  for (auto const& s : shapes) {
    CAPTURE(s.branching, s.depth, s.fillers);
    Form const form(s.branching, s.depth, s.fillers);
    random_stream stream(11, 3);
    f(form.algebra, stream);
  }
}

#define TRIAD_TEST_FORMS(name)                                                                                       \
  TEMPLATE_TEST_CASE(name, "", gather_form<double>, gather_form<float>, canonical_form<double>, random_form<double>, \
                     random_form<float>, sparse_form<double>, sparse_form<float>)

template <class A>
std::vector<typename A::value_type> filler_at_root(tensor_tree<A> const& x) {
  using T = typename A::value_type;
  std::vector<T> s(static_cast<std::size_t>(x.algebra().fillers()));
  root(x.algebra(), x.view(), vec<T>(s.data(), x.algebra().fillers()));
  return s;
}

template <class T>
vec<T const> read(std::vector<T> const& s) {
  return vec<T const>(s.data(), static_cast<index_t>(s.size()));
}
template <class T>
vec<T> write(std::vector<T>& s) {
  return vec<T>(s.data(), static_cast<index_t>(s.size()));
}

template <class T>
double product(std::vector<T> const& a, std::vector<T> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

TRIAD_TEST_FORMS("a child of cons is the argument, where that leaves the last level empty") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    std::vector<tensor_tree<std::decay_t<decltype(a)>>> arguments;
    auto const s = random_values<T>(stream, a.fillers());
    auto y = random_tree(a, stream);  // is overwritten
    plant(a, read(s), y.view());
    for (index_t c = 0; c < a.branching(); ++c) {
      arguments.push_back(random_tree(a, stream, a.depth() - 1));
      graft_onto(a, c, arguments.back().view(), y.view());
    }
    for (index_t c = 0; c < a.branching(); ++c)
      CHECK(apart(child(y, c), arguments[static_cast<std::size_t>(c)]) < rounding<T>);
    CHECK(farthest(filler_at_root(y), s) < rounding<T>);
  });
}

TRIAD_TEST_FORMS("cons of two trees is plant and two grafts; car and cdr take them out again") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    auto const l = random_tree(a, stream, a.depth() - 1), r = random_tree(a, stream, a.depth() - 1);
    auto const s = random_values<T>(stream, a.fillers());
    auto y = random_tree(a, stream), left = random_tree(a, stream), right = random_tree(a, stream);
    cons(a, l.view(), r.view(), read(s), y.view());
    car(a, y.view(), left.view());
    cdr(a, y.view(), right.view());
    CHECK(apart(left, l) < rounding<T>);
    CHECK(apart(right, r) < rounding<T>);
    child<1>(a, y.view(), left.view());
    CHECK(apart(left, right) == 0);
    CHECK(apart(car(cons(l, r, y)), l) < rounding<T>);
  });
}

TRIAD_TEST_FORMS("what cons is given on the last level is dropped") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    auto const x = random_tree(a, stream);
    auto kept = random_tree(a, stream, 0);
    for (index_t r = 0; r < tree_positions<>(a.branching(), a.depth()).level_begin(a.depth() - 1); ++r) {
      std::vector<T> s(static_cast<std::size_t>(a.fillers()));
      a.add_unbound(1, a.paths().at_position(r), x.view(), write(s));
      a.add_bound(1, a.paths().at_position(r), read(s), kept.view());
    }
    for (index_t c = 0; c < a.branching(); ++c) {
      auto y = random_tree(a, stream);
      graft(a, c, x.view(), y.view());
      CHECK(apart(child(y, c), kept) < rounding<T>);
    }
  });
}

TRIAD_TEST_FORMS("every gradient is the adjoint: <A x, y> = <x, A' y>") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    auto const close = [](double found, double expected) {
      return std::abs(found - expected) < 10 * rounding<T> * (1 + std::abs(expected));
    };
    auto const x = random_tree(a, stream), dy = random_tree(a, stream), zero = random_tree(a, stream, 0);
    for (index_t c = 0; c < a.branching(); ++c) {
      auto y = zero, dx = zero;
      child(a, c, x.view(), y.view());
      child_grad(a, c, dy.view(), dx.view());
      CHECK(close(inner_product(y, dy), inner_product(x, dx)));
      auto grafted = zero, dgrafted = zero;
      graft(a, c, x.view(), grafted.view());
      graft_grad(a, c, dy.view(), dgrafted.view());
      CHECK(close(inner_product(grafted, dy), inner_product(x, dgrafted)));
    }
    auto const s = random_values<T>(stream, a.fillers());
    std::vector<T> found(s.size()), ds(s.size());
    auto planted = zero, dx = zero;
    root(a, x.view(), write(found));
    root_grad(a, read(s), dx.view());
    CHECK(close(product(found, s), inner_product(x, dx)));
    plant(a, read(s), planted.view());
    plant_grad(a, dy.view(), write(ds));
    CHECK(close(inner_product(planted, dy), product(s, ds)));

    auto const z = random_tree(a, stream);
    auto y = zero, dleft = zero, dright = zero;
    std::fill(ds.begin(), ds.end(), T(0));
    cons(a, x.view(), z.view(), read(s), y.view());
    cons_grad(a, dy.view(), dleft.view(), dright.view(), write(ds));
    CHECK(close(inner_product(y, dy), inner_product(x, dleft) + inner_product(z, dright) + product(s, ds)));
  });
}

TRIAD_TEST_FORMS("gradients add to what is there, values do not") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    auto const x = random_tree(a, stream), before = random_tree(a, stream), zero = random_tree(a, stream, 0);
    auto once = zero, onto = before, y = before;
    child_grad(a, 1, x.view(), once.view());
    child_grad(a, 1, x.view(), onto.view());
    CHECK(apart(onto, once + before) < rounding<T>);
    child(a, 1, x.view(), y.view());
    CHECK(apart(y, child(x, 1)) == 0);
  });
}

/// A memory of `slots` trees. It has the type that a form uses for batches: a view with three axes, or a vector.
template <class A>
struct memory_of_trees {
  using T = typename A::value_type;
  std::vector<T> numbers;
  tensor<T, dyn, dyn, dyn> view;
  memory_of_trees(A const& a, random_stream& stream, index_t slots, index_t levels)
      : numbers(static_cast<std::size_t>(slots * a.elements())),
        view(numbers.data(), slots, a.over(nullptr).extent(0), a.over(nullptr).extent(1)) {
    for (index_t l = 0; l < slots; ++l) {
      auto const x = random_tree(a, stream, levels);
      a.add(1, x.view(), a.over(numbers.data() + l * a.elements()));
    }
  }
  tensor<T, dyn, dyn, dyn> trees() { return view; }
};
template <class T>
struct memory_of_trees<sparse_algebra<T>> {
  std::vector<sparse_tree<T>> slots_;
  memory_of_trees(sparse_algebra<T> const& a, random_stream& stream, index_t slots, index_t levels) {
    for (index_t l = 0; l < slots; ++l) slots_.push_back(random_tree(a, stream, levels).view());
  }
  std::vector<sparse_tree<T>>& trees() { return slots_; }
};

TRIAD_TEST_FORMS("an operation on a weighted memory is the weighted sum of the operation on its trees") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    using A = std::decay_t<decltype(a)>;
    index_t const slots = 3;
    memory_of_trees<A> memory(a, stream, slots, a.depth());
    std::array<std::vector<T>, 2> const weights{random_values<T>(stream, slots), random_values<T>(stream, slots)};
    std::array<vec<T const>, 2> const w{read(weights[0]), read(weights[1])};
    auto const s = random_values<T>(stream, a.fillers());
    tensor_tree<A> blended(a), y(a), expected(a);
    auto&& trees = memory.trees();
    for (index_t c = 0; c < a.branching(); ++c) {
      child(a, c, w[0], trees, blended.view(), y.view());
      a.clear(expected.view());
      for (index_t l = 0; l < slots; ++l) a.add_child(w[0](l), c, triad::detail::item(trees, l), expected.view());
      CHECK(apart(y, expected) < rounding<T>);
      if (c < 2) {
        c == 0 ? car(a, w[0], trees, blended.view(), y.view()) : cdr(a, w[0], trees, blended.view(), y.view());
        CHECK(apart(y, expected) < rounding<T>);
      }
    }
    cons(a, w, trees, read(s), blended.view(), y.view());
    plant(a, read(s), expected.view());
    for (index_t c = 0; c < 2; ++c)
      for (index_t l = 0; l < slots; ++l)
        a.add_graft(w[static_cast<std::size_t>(c)](l), c, triad::detail::item(trees, l), expected.view());
    CHECK(apart(y, expected) < rounding<T>);
    std::vector<T> filler(s.size()), sum(s.size());
    root(a, w[1], trees, blended.view(), write(filler));
    for (index_t l = 0; l < slots; ++l) a.add_unbound(w[1](l), root_role, triad::detail::item(trees, l), write(sum));
    CHECK(farthest(filler, sum) < rounding<T>);
  });
}

TRIAD_TEST_FORMS("the gradients of a weighted memory are the adjoints in its trees and in its weights") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    using A = std::decay_t<decltype(a)>;
    index_t const slots = 3;
    memory_of_trees<A> memory(a, stream, slots, a.depth()), dmemory(a, stream, slots, 0);
    std::array<std::vector<T>, 2> const weights{random_values<T>(stream, slots), random_values<T>(stream, slots)};
    std::array<std::vector<T>, 2> dweights{std::vector<T>(3), std::vector<T>(3)};
    std::array<vec<T const>, 2> const w{read(weights[0]), read(weights[1])};
    std::array<vec<T>, 2> const dw{write(dweights[0]), write(dweights[1])};
    auto const s = random_values<T>(stream, a.fillers());
    std::vector<T> ds(s.size());
    tensor_tree<A> blended(a), y(a);
    auto const dy = random_tree(a, stream);
    auto&& trees = memory.trees();
    auto&& dtrees = dmemory.trees();
    cons(a, w, trees, read(s), blended.view(), y.view());
    cons_grad(a, w, trees, dy.view(), blended.view(), dw, dtrees, write(ds));
    // The result y is linear in (trees, s), and also in (weights, s). So each of the two sums must equal <y, dy>.
    double through_trees = product(s, ds), through_weights = product(s, ds);
    for (index_t l = 0; l < slots; ++l)
      through_trees +=
          static_cast<double>(a.inner_product(triad::detail::item(trees, l), triad::detail::item(dtrees, l)));
    for (std::size_t c = 0; c < 2; ++c) through_weights += product(weights[c], dweights[c]);
    double const expected = inner_product(y, dy), limit = 20 * rounding<T> * (1 + std::abs(expected));
    CHECK(std::abs(through_trees - expected) < limit);
    CHECK(std::abs(through_weights - expected) < limit);

    // car, cdr and the root are linear in both arguments.
    memory_of_trees<A> dother(a, stream, slots, 0);
    std::vector<T> dother_weights(3);
    auto&& grown = dother.trees();
    car(a, w[0], trees, blended.view(), y.view());
    double given = inner_product(y, dy);
    car_grad(a, w[0], trees, dy.view(), blended.view(), write(dother_weights), grown);
    cdr(a, w[0], trees, blended.view(), y.view());
    given += inner_product(y, dy);
    cdr_grad(a, w[0], trees, dy.view(), blended.view(), write(dother_weights), grown);
    std::vector<T> filler(s.size());
    root(a, w[0], trees, blended.view(), write(filler));
    given += product(filler, s);
    root_grad(a, w[0], trees, read(s), blended.view(), write(dother_weights), grown);
    double of_trees = 0;
    for (index_t l = 0; l < slots; ++l)
      of_trees += static_cast<double>(a.inner_product(triad::detail::item(trees, l), triad::detail::item(grown, l)));
    CHECK(std::abs(of_trees - given) < 20 * rounding<T> * (1 + std::abs(given)));
    CHECK(std::abs(product(weights[0], dother_weights) - given) < 20 * rounding<T> * (1 + std::abs(given)));
  });
}

TRIAD_TEST_FORMS("a batch is its trees, one by one") {
  using T = typename TestType::value_type;
  every_shape<TestType>([](auto const& a, random_stream& stream) {
    using A = std::decay_t<decltype(a)>;
    memory_of_trees<A> left(a, stream, 2, a.depth()), right(a, stream, 2, a.depth()), y(a, stream, 2, a.depth());
    auto const s = random_values<T>(stream, 2 * a.fillers());
    cons(a, left.trees(), right.trees(), tensor<T const, dyn, dyn>(s.data(), 2, a.fillers()), y.trees());
    for (index_t i = 0; i < 2; ++i) {
      tensor_tree<A> one(a);
      cons(a, triad::detail::item(left.trees(), i), triad::detail::item(right.trees(), i),
           vec<T const>(s.data() + i * a.fillers(), a.fillers()), one.view());
      a.add(-1, triad::detail::item(y.trees(), i), one.view());
      CHECK(inner_product(one, one) == 0);
    }
  });
}

TEST_CASE("gather, dense and sparse give the same trees") {
  for (auto const& s : shapes) {
    CAPTURE(s.branching, s.depth, s.fillers);
    gather_form<double> const gather(s.branching, s.depth, s.fillers);
    canonical_form<double> const canonical(s.branching, s.depth, s.fillers);
    random_form<double> const random(s.branching, s.depth, s.fillers);
    sparse_form<double> const sparse(s.branching, s.depth, s.fillers);
    auto const run = [&](auto const& a) {  // some steps with car, cons and sums
      random_stream stream(21, 4);
      auto x = random_tree(a, stream), y = random_tree(a, stream);
      for (int step = 0; step < 6; ++step) {
        auto next = step % 3 == 0   ? cons(x, y, x)
                    : step % 3 == 1 ? cons(cdr(x) + y, car(x), y)
                                    : child(x, a.branching() - 1) + car(y);
        x = y;
        y = next;
      }
      return fillings_of(x + y);
    };
    auto const expected = run(gather.algebra);
    CHECK(farthest(run(canonical.algebra), expected) < 1e-12);
    CHECK(farthest(run(random.algebra), expected) < 1e-12);
    CHECK(farthest(run(sparse.algebra), expected) < 1e-12);
  }
}

TEST_CASE("misuse says what was expected") {
  gather_algebra<double> const a({2, 3}, 4);
  std::vector<double> numbers(28), other(35);
  auto const x = a.over(numbers.data());
  tensor<double, dyn, dyn> const wrong(other.data(), 7, 5);
  CHECK_THROWS_WITH(car(a, x, wrong), contains("a tree is (7, 5), expected (7, 4)"));
  CHECK_THROWS_WITH(child(a, 2, x, x), contains("child 2, expected 0 to 1"));
  CHECK_THROWS_WITH(plant(a, vec<double const>(other.data(), 5), x), contains("5 numbers of a filler, expected 4"));
  std::array<tensor<double const, dyn, dyn>, 3> const three{x, x, x};
  tensor<double, dyn, dyn, dyn> const slots(numbers.data(), 1, 7, 4);
  vec<double> const weights(other.data(), 2), weight(other.data(), 1);
  CHECK_THROWS_WITH(blend(a, weights, slots, x), contains("blend: 2 weights, expected 1"));
  CHECK_THROWS_WITH(blend_grad(a, weights, slots, x, weights, slots), contains("blend_grad: 2 weights, expected 1"));
  CHECK_THROWS_WITH(blend_grad(a, weight, slots, x, weights, slots),
                    contains("blend_grad: 2 gradients of weights, expected 1"));
  CHECK_THROWS_WITH(cons(a, three, vec<double const>(other.data(), 4), x),
                    contains("cons: 3 children, expected at most 2, the branching"));
}

}  // namespace tree_algebra_tests
