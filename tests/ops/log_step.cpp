// Tests the table of losses and norms. Each step writes its own row. After the last row, writing starts again at the
// first row.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/log_step.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "triad/core/views.hpp"

namespace ops_log_step_tests {

using namespace triad;

TEMPLATE_TEST_CASE("a step writes its row of the history and no other", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::vector<T> table(6, T(-1)), expected = table;
  std::vector<std::uint64_t> step(1);
  std::vector<T> loss(1), norm(1);
  for (std::uint64_t s : {0u, 1u, 2u, 3u, 7u}) {
    step[0] = s;
    loss[0] = T(10 + s), norm[0] = T(20 + s);
    log_step(ex, step.data(), make_vec<T const>(loss.data(), 1), make_vec<T const>(norm.data(), 1),
             make_matrix(table.data(), 3, 2, 2));
    expected[2 * (s % 3)] = loss[0], expected[2 * (s % 3) + 1] = norm[0];
    CHECK(table == expected);
  }
  CHECK_THROWS_AS(log_step(ex, step.data(), make_vec<T const>(loss.data(), 1), make_vec<T const>(norm.data(), 1),
                           make_matrix(table.data(), 2, 3, 3)),
                  contract_violation);
}

}  // namespace ops_log_step_tests
