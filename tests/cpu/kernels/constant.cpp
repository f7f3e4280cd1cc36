// Tests the conversion of a run-time number to a compile-time constant. The constant is at most the largest allowed
// value.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/constant.hpp"

#include "tests/catch.hpp"

namespace cpu_constant_tests {

using namespace triad;

template <int Most>
int constant_of(index_t count) {
  int found = 0;
  cpu::with_constant<Most>(count, [&](auto n) {
    static_assert(n() >= 1 && n() <= Most);
    found = 10 * found + n();  // a second call would be seen in the result
  });
  return found;
}

TEST_CASE("a count is its constant, called once; what is more than the most is the most") {
  for (index_t n = 1; n <= 6; ++n) CHECK(constant_of<6>(n) == n);
  CHECK(constant_of<6>(7) == 6);
  CHECK(constant_of<6>(index_t{1} << 40) == 6);
  CHECK(constant_of<1>(5) == 1);
}

}  // namespace cpu_constant_tests
