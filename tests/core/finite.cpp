// Tests is_finite with finite, infinite and NaN values, and with the largest values, for both types and both signs.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/finite.hpp"

#include <limits>

#include "tests/catch.hpp"

namespace core_finite_tests {

using namespace triad;

template <class T>
void check_kinds() {
  using limits = std::numeric_limits<T>;
  for (T const x : {T(0), T(1), limits::denorm_min(), limits::min(), limits::max()}) {
    CAPTURE(x);
    CHECK((is_finite(x) && !is_nan(x) && !is_infinite(x)));
    CHECK((is_finite(-x) && !is_nan(-x) && !is_infinite(-x)));
  }
  T const infinity = limits::infinity();
  CHECK((!is_finite(infinity) && !is_nan(infinity) && is_infinite(infinity)));
  CHECK((!is_finite(-infinity) && !is_nan(-infinity) && is_infinite(-infinity)));
  for (T const x : {limits::quiet_NaN(), limits::signaling_NaN()}) {
    CHECK((!is_finite(x) && is_nan(x) && !is_infinite(x)));
    CHECK((!is_finite(-x) && is_nan(-x) && !is_infinite(-x)));
  }
}

TEST_CASE("finite, infinite and NaN are distinguished by their bits") {
  check_kinds<float>();
  check_kinds<double>();
}

TEST_CASE("a compiler can tell them apart too") {
  static_assert(is_finite(1.0f) && is_nan(std::numeric_limits<double>::quiet_NaN()) &&
                is_infinite(-std::numeric_limits<float>::infinity()));
}

}  // namespace core_finite_tests
