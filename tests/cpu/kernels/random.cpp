// Tests that dropout for sixteen counters at once keeps the same elements as for one counter at a time, and that
// dropout includes the last element of a row.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/random.hpp"

#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace cpu_random_tests {

using namespace triad;

TEST_CASE("sixteen counters at once keep what one at a time keeps") {
  std::uint64_t const step = 3 * (std::uint64_t{1} << 32) + 77;
  for (double rate : {0.2, 0.5, 1.0}) {
    dropout_mask const m{rate, 0x123456789abcdef0, 0xfedcba9876543210, &step};
    cpu::keep_source const fast(m);
    // The last block with 32-bit counters, the blocks after it, and a block far beyond.
    for (std::uint64_t block :
         {0ull, 1ull, 1000ull, 0x3ffffffull, 0x0fffffffull, 0x10000000ull, 0x10000001ull, 0x123456789abull}) {
      auto const bits = fast.bits(block);
      for (std::uint64_t e = 0; e < 64; ++e) REQUIRE((bits >> e & 1) == (m.keeps(block * 64 + e) ? 1u : 0u));
    }
  }
}

TEMPLATE_TEST_CASE("a row keeps the elements that its mask keeps, scaled, and nothing is written after it", "", float,
                   double) {
  std::uint64_t const step = 77;
  dropout_mask const m{0.5, 9, 4, &step};
  for (index_t columns : {1, 7, 16, 63, 64, 65, 200}) {
    auto const from = test::random_values<TestType>(columns, 3);
    std::vector<TestType> to(static_cast<std::size_t>(columns) + 1, TestType(9));
    cpu::drop_row(cpu::keep_source(m), TestType(2), 5, columns, from.data(), to.data());
    for (index_t c = 0; c < columns; ++c) {
      auto const i = static_cast<std::size_t>(c);
      REQUIRE(to[i] == (m.keeps(dropout_element(5, c, columns)) ? from[i] * 2 : 0));
    }
    CHECK(to.back() == 9);
  }
}

}  // namespace cpu_random_tests
