// Tests the scratch memory of products.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/scratch.hpp"

#include <cstdint>
#include <thread>

#include "tests/catch.hpp"

namespace cpu_scratch_tests {

using namespace triad::cpu::detail;

TEST_CASE("scratch memory grows, and stays where it is for requests that fit") {
  std::thread([] {  // a thread that has no scratch memory yet
    auto* const first = product_scratch(scratch_use::sums, 1000);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    CHECK(product_scratch(scratch_use::sums, 1200) == first);
    CHECK(product_scratch(scratch_use::sums, 1) == first);
    auto* const other = product_scratch(scratch_use::left_block, 1000);
    CHECK(other != first);
    auto* const large = product_scratch(scratch_use::sums, 1 << 20);
    large[(1 << 20) - 1] = std::byte{1};
    CHECK(product_scratch(scratch_use::sums, 1 << 20) == large);
    CHECK(product_scratch(scratch_use::left_block, 1000) == other);
  })
      .join();
}

TEST_CASE("each thread has its own scratch memory") {
  auto* const mine = product_scratch(scratch_use::right_block, 64);
  std::byte* theirs = nullptr;
  std::thread([&] { theirs = product_scratch(scratch_use::right_block, 64); }).join();
  CHECK(mine != theirs);
}

}  // namespace cpu_scratch_tests
