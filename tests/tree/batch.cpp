// Tests batches, which have one more axis than a tree. Operations on a batch must process each tree with its own
// weights, for any strides of the weights.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/batch.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"

namespace tree_batch_tests {

using namespace triad;
using namespace triad::test;
using triad::test::contains;

static_assert(tree_algebra<gather_algebra<float>> && tree_algebra<dense_algebra<float>> &&
              tree_algebra<sparse_algebra<float>> && !tree_algebra<int>);

TEST_CASE("items of a batch are its numbers, rows of any strides, trees and memories") {
  std::vector<int> numbers(24);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  CHECK(detail::item(vec<int>(numbers.data(), 4), 3) == 3);
  // Column 1 of a (6, 4) matrix.
  auto const column = detail::item(transposed(tensor<int, dyn, dyn>(numbers.data(), 6, 4)), 1);
  CHECK((column.extent(0) == 6 && column(0) == 1 && column(5) == 21));
  auto const tree = detail::item(tensor<int, dyn, dyn, dyn>(numbers.data(), 2, 3, 4), 1);
  CHECK((tree.extent(0) == 3 && tree.extent(1) == 4 && tree(2, 3) == 23));
  auto const memory = detail::item(tensor<int, dyn, dyn, dyn, dyn>(numbers.data(), 2, 2, 2, 3), 1);
  CHECK((memory.extent(0) == 2 && memory(1, 1, 2) == 23));
  CHECK(detail::item(numbers, 7) == 7);
  CHECK(detail::items(numbers) == 24);
  CHECK(detail::items(tensor<int, dyn, dyn>(numbers.data(), 6, 4)) == 6);
}

TEST_CASE("the numbers of a filler lie side by side, or it is refused") {
  std::vector<double> numbers(6);
  tensor<double, dyn, dyn> const table(numbers.data(), 3, 2);
  CHECK(detail::filler_of(detail::item(table, 2)).data_handle() == numbers.data() + 4);
  CHECK_THROWS_WITH(detail::filler_of(detail::item(transposed(table), 1)),
                    contains("tree algebra: a filler with a stride of "));
}

TEST_CASE("an empty batch is nothing to do") {
  gather_algebra<double> const a({2, 2}, 3);
  tensor<double, dyn, dyn, dyn> const none(nullptr, 0, a.positions().count(), 3);
  CHECK_NOTHROW(car(a, none, none));
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
  CHECK_THROWS_WITH(car(a, trees(numbers), one), contains("items of a batch, expected"));
}

}  // namespace tree_batch_tests
