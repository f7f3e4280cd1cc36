// Tests that a NaN or an infinity in any operand of any operation leads to NaN or infinity in the results.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ops/every_operation.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

namespace ops_not_a_number_tests {

using namespace triad;
namespace operations = test::operations;

/// Returns true for documented exceptions. These are operands in which a NaN only selects a branch.
bool chooses(std::string const& operation, std::size_t operand) {
  if (operation == "relu_grad" || operation == "leaky_relu_grad") return operand == 0;
  return operation.starts_with("matmul") && operand == 3;  // the gate
}
/// Returns true for operands for which the result has a finite limit at infinity. These are the slope of elu, the
/// operand of the sigmoid, and a gradient that is scaled by 1 / infinity.
bool has_a_limit(std::string const& operation, std::size_t operand) {
  return operation == "elu_grad" || operation == "sigmoid" || (operation == "clip" && operand == 1);
}
/// Returns true for the maximum of a triangle's scores, which does not keep a NaN. The sum that is stored next to the
/// maximum has the NaN.
bool is_told_elsewhere(std::string const& operation, std::size_t result) {
  return (operation.starts_with("triangle, ") && result == 0) ||
         (operation.starts_with("projected_triangle, ") && result == 1);
}

TEMPLATE_TEST_CASE("NaN in an operand is in every result that depends on it, and infinity in one at least", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  using Ex = typename TestType::backend;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  Ex ex;
  index_t probes = 0, dependents = 0;
  operations::each_operation<Ex, T>([&](operations::operation_use<Ex, T> const& use) {
    auto x = operations::operands_of<T>(use.sizes, use.range);
    auto const before = use.run(ex, x);
    for (std::size_t k = 0; k < use.sizes.size(); ++k) {
      constexpr index_t most = test::is_device<Ex> ? 1 : 5;  // number of tested elements of an operand
      for (index_t part = 0; part < std::min(most, use.sizes[k]); ++part) {
        index_t const e = part * use.sizes[k] / std::min(most, use.sizes[k]);
        auto const with = [&](T value) {
          T& element = x[k][static_cast<std::size_t>(e)];
          T const kept = std::exchange(element, value);
          auto results = use.run(ex, x);
          element = kept;
          return results;
        };
        T const now = x[k][static_cast<std::size_t>(e)];
        // A result depends on an element if the bits of the result change with the element.
        auto const above = with(now + T(1.5)), below = with(now - T(1.5)), spoiled = with(nan), high = with(inf),
                   low = with(-inf);
        bool depends = false, shows = false;
        for (std::size_t r = 0; r < before.size(); ++r)
          for (std::size_t i = 0; i < before[r].size(); ++i) {
            if (before[r][i] == above[r][i] && before[r][i] == below[r][i]) continue;
            if (std::isnan(before[r][i]) || is_told_elsewhere(use.name, r)) continue;
            ++dependents;
            depends = true;
            shows = shows || !std::isfinite(high[r][i]) || !std::isfinite(low[r][i]);
            if (std::isnan(spoiled[r][i]) || chooses(use.name, k)) continue;
            CAPTURE(use.name, k, e, r, i, spoiled[r][i]);
            FAIL_CHECK("NaN is lost");
          }
        ++probes;
        CAPTURE(use.name, k, e);
        if (depends && !shows && !chooses(use.name, k) && !has_a_limit(use.name, k)) FAIL_CHECK("infinity is lost");
      }
    }
  });
  CHECK(probes > 250);
  CHECK(dependents > 10000);
}

}  // namespace ops_not_a_number_tests
