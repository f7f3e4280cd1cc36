// Tests a table of vectors that is read by index: its gradient, static and dynamic sizes, and indices outside the
// table.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/embedding.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_embedding_tests {

using namespace triad;

TEST_CASE("rows are those of their labels, and a label's gradient is the sum of its rows'") {
  reference::backend ex;
  embedding<double> const table{extents<dyn, dyn>(3, 2)};
  CHECK(table.out() == 2);
  std::vector<double> const values{1, 2, 3, 4, 5, 6}, dy{1, 10, 2, 20, 3, 30};
  std::vector<double> y(6), gradient(6, 0.5);
  std::vector<index_t> label{2, 0, 2};
  auto const of = [](auto& v, index_t rows) {
    return tensor<std::remove_reference_t<decltype(v[0])>, dyn, dyn>(v.data(), rows, 2);
  };
  auto const in = make_vec<index_t const>(label.data(), 3);
  table.forward(ex, {}, {of(values, 3)}, in, {}, of(y, 3));
  table.backward(ex, {}, {of(values, 3)}, in, {}, of(dy, 3), {of(gradient, 3)});
  CHECK(y == std::vector<double>{5, 6, 1, 2, 5, 6});
  CHECK(gradient == std::vector<double>{2.5, 20.5, 0.5, 0.5, 4.5, 40.5});
  label[1] = 3;
  CHECK_THROWS_WITH(table.forward(ex, {}, {of(values, 3)}, in, {}, of(y, 3)), test::contains("gather_rows"));
}

TEST_CASE("an embedding of static and of dynamic shape computes the same bits, and has the gradient of its value") {
  reference::backend ex;
  std::vector<index_t> const label{4, 0, 2, 4, 4, 1, 0};
  auto const in = make_vec(label.data(), 7);
  embedding<double> const free{extents<dyn, dyn>(6, 3)};
  test::expect_same(test::outcome_of(embedding<double, 6, 3>{}, row_dims(7), in, {7, 3}),
                    test::outcome_of(free, row_dims(7), in, {7, 3}));
  CHECK_GRADIENT(gradient_check(ex, free, row_dims(7), in, {7, 3}));
  CHECK(test::outcome_of(free, row_dims(0), make_vec<index_t const>(nullptr, 0), {0, 3}).value == 0);
}

}  // namespace layers_embedding_tests
