// Tests the biases of heads. Each row's factor scales the bias, and gradients equal finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/head_bias.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace ops_head_bias_tests {

using namespace triad;

TEMPLATE_TEST_CASE("a head's bias counts as much as each row says, and so do its gradients", "", TRIAD_TEST_BACKENDS) {
  std::remove_cvref_t<TestType> ex;
  for (index_t rows : {1, 70})
    for (index_t k : {1, 5, 40}) {
      index_t const heads = 3, d = heads * k;
      auto const s = test::random_values<double>(rows * heads, 1), b = test::random_values<double>(d, 2),
                 dy = test::random_values<double>(rows * d, 3);
      auto y = test::random_values<double>(rows * d, 4);
      auto const before = y;
      std::vector<double> ds(s.size()), db(b.size(), 1);
      auto const table = [](auto& v, index_t r, index_t c) {
        return tensor<std::remove_reference_t<decltype(v[0])>, dyn, dyn>(v.data(), r, c);
      };
      head_bias_add(ex, table(s, rows, heads), vec<double const>(b.data(), d), table(y, rows, d));
      test::with_scratch(ex, call{}, [&](auto& any, call const& c) {
        head_bias_grad(any, *c.scratch, table(s, rows, heads), vec<double const>(b.data(), d), table(dy, rows, d),
                       table(ds, rows, heads), vec<double>(db.data(), d));
      });
      auto const at = [](auto const& v, index_t i) { return v[static_cast<std::size_t>(i)]; };
      std::vector<double> expected_db(b.size(), 1);
      for (index_t r = 0; r < rows; ++r)
        for (index_t h = 0; h < heads; ++h) {
          double sum = 0;
          for (index_t c = h * k; c < (h + 1) * k; ++c) {
            CHECK_THAT(at(y, r * d + c),
                       test::WithinAbs(at(before, r * d + c) + at(s, r * heads + h) * at(b, c), 1e-14));
            sum += at(dy, r * d + c) * at(b, c);
            expected_db[static_cast<std::size_t>(c)] += at(s, r * heads + h) * at(dy, r * d + c);
          }
          CHECK_THAT(at(ds, r * heads + h), test::WithinAbs(sum, 1e-12));
        }
      for (index_t c = 0; c < d; ++c) CHECK_THAT(at(db, c), test::WithinAbs(at(expected_db, c), 1e-12));
    }
}

}  // namespace ops_head_bias_tests
