// The gather form: rows move as positions say, static shapes are the dynamic ones, and batches of memories blend with
// any strides.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/gather.hpp"

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"

namespace {

using namespace triad;
using namespace triad::test;
using triad::test::contains;

TEST_CASE("rows come from where positions say, for child and for cons") {
  for (index_t b : {2, 3}) {
    tree_positions<> const p(b, 4);
    gather_algebra<double> const a(p, 3);
    random_stream stream(1, 1);
    auto const x = random_tree(a, stream);
    std::vector<tensor_tree<gather_algebra<double>>> parts;
    for (index_t c = 0; c < b; ++c) {
      parts.push_back(child(x, c));
      for (index_t r = 0; r < p.count(); ++r)
        for (index_t f = 0; f < 3; ++f) {
          auto const from = p.child_source(c, r);
          REQUIRE(parts.back().view()(r, f) == (from == no_position ? 0 : x.view()(from, f)));
        }
    }
    tensor_tree<gather_algebra<double>> whole(a);
    std::vector<double> const s{1, 2, 3};
    plant(a, vec<double const>(s.data(), 3), whole.view());
    for (index_t c = 0; c < b; ++c) graft_onto(a, c, parts[static_cast<std::size_t>(c)].view(), whole.view());
    for (index_t r = 0; r < p.count(); ++r)
      for (index_t f = 0; f < 3; ++f) {
        auto const from = p.cons_source(r);
        REQUIRE(whole.view()(r, f) == (r == 0
                                           ? s[static_cast<std::size_t>(f)]
                                           : parts[static_cast<std::size_t>(from.argument)].view()(from.position, f)));
      }
  }
}

TEST_CASE("a static shape gives the same numbers as a dynamic one") {
  gather_algebra<float> const a({2, 5}, 4);
  gather_algebra<float, 2, 5> const fixed({}, 4);
  random_stream stream(2, 1), again(2, 1);
  auto const x = random_tree(a, stream), y = random_tree(a, stream);
  auto const u = random_tree(fixed, again), v = random_tree(fixed, again);
  CHECK(fillings_of(cons(car(x), cdr(y), x)) == fillings_of(cons(car(u), cdr(v), u)));
  CHECK(inner_product(x, y) == inner_product(u, v));
  STATIC_REQUIRE(tree_algebra<gather_algebra<float, 2, 5>>);
}

TEST_CASE("a batch of memories is blended with one column of weights for several arguments") {
  index_t const batch = 2, slots = 3, arguments = 4, width = 2;
  gather_algebra<double> const a({2, 3}, width);
  index_t const count = a.positions().count();
  random_stream stream(3, 1);
  auto numbers = random_values<double>(stream, batch * slots * count * width),
       weights = random_values<double>(stream, batch * slots * arguments);
  std::vector<double> dnumbers(numbers.size()), dweights(weights.size()),
      blended(static_cast<std::size_t>(batch * count * width)), y(blended.size());
  tensor<double, dyn, dyn, dyn, dyn> const memory(numbers.data(), batch, slots, count, width),
      dmemory(dnumbers.data(), batch, slots, count, width);
  tensor<double, dyn, dyn, dyn> const lent(blended.data(), batch, count, width), out(y.data(), batch, count, width);
  auto const column = [&](std::vector<double>& all, index_t k) {
    return make_matrix(all.data() + k, batch, slots, slots * arguments, arguments);
  };
  auto const dy = random_values<double>(stream, batch * count * width);
  tensor<double const, dyn, dyn, dyn> const dout(dy.data(), batch, count, width);
  for (index_t k = 0; k < arguments; ++k) {
    child(a, k % 2, column(weights, k), memory, lent, out);
    double product = 0, through_weights = 0;
    for (index_t i = 0; i < batch; ++i)
      for (index_t r = 0; r < count; ++r)
        for (index_t f = 0; f < width; ++f) {
          double expected = 0;
          auto const from = a.positions().child_source(k % 2, r);
          for (index_t l = 0; l < slots && from != no_position; ++l)
            expected += weights[static_cast<std::size_t>((i * slots + l) * arguments + k)] * memory(i, l, from, f);
          REQUIRE(std::abs(out(i, r, f) - expected) < 1e-14);
          product += out(i, r, f) * dout(i, r, f);
        }
    child_grad(a, k % 2, column(weights, k), memory, dout, lent, column(dweights, k), dmemory);
    for (index_t i = 0; i < batch; ++i)
      for (index_t l = 0; l < slots; ++l) through_weights += column(weights, k)(i, l) * column(dweights, k)(i, l);
    CHECK(std::abs(product - through_weights) < 1e-13);
  }
  double through_memory = 0, all_weights = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) through_memory += numbers[i] * dnumbers[i];
  for (std::size_t i = 0; i < weights.size(); ++i) all_weights += weights[i] * dweights[i];
  CHECK(std::abs(through_memory - all_weights) < 1e-12);
}

TEST_CASE("roots, plants, bindings and their gradients take a batch") {
  index_t const batch = 2, width = 3;
  gather_algebra<double> const a({2, 3}, width);
  index_t const count = a.positions().count();
  random_stream stream(4, 1);
  auto numbers = random_values<double>(stream, batch * count * width);
  std::vector<double> bound(numbers.size()), back(numbers.size()), roots(static_cast<std::size_t>(batch * width)),
      planted(numbers.size());
  auto const trees = [&](std::vector<double>& all) {
    return tensor<double, dyn, dyn, dyn>(all.data(), batch, count, width);
  };
  tensor<double, dyn, dyn> const s(roots.data(), batch, width);
  bind(a, trees(numbers), trees(bound));
  unbind(a, trees(bound), trees(back));
  CHECK(back == numbers);
  root(a, trees(numbers), s);
  plant(a, s, trees(planted));
  for (index_t i = 0; i < batch; ++i)
    for (index_t f = 0; f < width; ++f) {
      CHECK(s(i, f) == trees(numbers)(i, 0, f));
      CHECK(trees(planted)(i, 0, f) == s(i, f));
      CHECK(trees(planted)(i, 1, f) == 0);
    }
  root_grad(a, s, trees(planted));
  plant_grad(a, trees(planted), s);
  for (index_t f = 0; f < width; ++f) CHECK(s(1, f) == 3 * trees(numbers)(1, 0, f));
  tensor<double, dyn, dyn, dyn> const one(numbers.data(), 1, count, width);
  CHECK_THROWS_WITH(car(a, trees(numbers), one), contains("batches of different sizes"));
}

}  // namespace
