// Tests the printed table of a model's parameters.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/summary.hpp"

#include "tests/catch.hpp"
#include "tests/train/two_layers.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/parameters.hpp"

namespace train_summary_tests {

using namespace triad;

TEST_CASE("a summary has every parameter with its shape, and the sums") {
  test::two_layers<float> const model(30, 50, 2);
  auto const found = summary(model);
  REQUIRE(found.rows.size() == 6);
  CHECK(found.rows[2].path == "first.weight");
  CHECK(found.rows[2].shape == std::vector<index_t>{50, 30});
  CHECK((found.rows[2].count == 1500 && found.rows[2].bytes == 6000));
  CHECK((found.count == 30 + 30 + 1500 + 50 + 100 + 2 && found.bytes == 4 * 1712));
  CHECK(found.text() ==
        "norm.gain           30     30    120\n"
        "norm.bias           30     30    120\n"
        "first.weight   50 x 30  1,500  6,000\n"
        "first.bias          50     50    200\n"
        "second.weight   2 x 50    100    400\n"
        "second.bias          2      2      8\n"
        "6 parameters            1,712  6,848\n");
}

TEST_CASE("a summary of what holds a model is that of the model") {
  test::two_layers<double> const model(3, 5, 2);
  parameter_set<test::two_layers<double>, reference::backend> const held(model, holding::values);
  CHECK(summary(held).text() == summary(model).text());
  CHECK(summary(held).bytes == 8 * static_cast<std::size_t>(count_values(held.values())));
}

}  // namespace train_summary_tests
