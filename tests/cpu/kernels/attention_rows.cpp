// Tests parts of attention on rows: dropout that starts at any element, and sums over a register. ops/attention.cpp
// compares whole rows with the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/attention_rows.hpp"

#include <cstdint>

#include "tests/catch.hpp"

namespace cpu_attention_rows_tests {

using namespace triad;

TEST_CASE("the bits of dropout from any element on are those of each element, forwards, backwards and again") {
  std::uint64_t const step = 77;
  cpu::keep_source const source(dropout_mask{0.3, 5, 6, &step});
  dropout_mask const m{0.3, 5, 6, &step};
  cpu::attending::keep_bits bits(source);
  for (std::uint64_t first : {0ull, 1ull, 63ull, 64ull, 65ull, 1000ull, 128ull, 65ull, 0ull, 0x400000001ull}) {
    auto const found = bits.from(first);
    for (std::uint64_t i = 0; i < 64; ++i) REQUIRE((found >> i & 1) == (m.keeps(first + i) ? 1u : 0u));
  }
}

TEMPLATE_TEST_CASE("what is joined across a register is all of its lanes", "", float, double) {
  using rows = cpu::attending::lanes_of<TestType>;
  typename rows::type v;
  TestType sum = 0;
  for (index_t l = 0; l < rows::count; ++l) {
    v[l] = static_cast<TestType>(l * l % 7 + 1);
    sum += v[l];
  }
  v[rows::count - 1] += 20;
  auto const plus = [](TestType a, TestType b) { return a + b; };
  auto const most = [](TestType a, TestType b) { return a > b ? a : b; };
  CHECK(cpu::attending::across_lanes<TestType>(v, plus) == sum + 20);
  CHECK(cpu::attending::across_lanes<TestType>(v, most) == v[rows::count - 1]);
  CHECK(cpu::attending::padded<TestType>(1) == rows::count);
  CHECK(cpu::attending::padded<TestType>(rows::count) == rows::count);
}

}  // namespace cpu_attention_rows_tests
