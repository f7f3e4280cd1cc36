// Tests what a backend expects of the engine that computes its products.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/engine.hpp"

#include "tests/catch.hpp"
#include "tests/cpu/products/loop_engine.hpp"
#include "triad/core/contracts.hpp"
#include "triad/cpu/backend.hpp"

namespace cpu_engine_tests {

using namespace triad;
using triad::test::contains;
using triad::test::loop_engine;

TEST_CASE("bf16 needs an engine that computes it") {
  using enum cpu::arithmetic;
  REQUIRE_THROWS_WITH(cpu::backend(1, nullptr, bf16), contains("factors are bf16, but BLAS computes float32 alone"));
  loop_engine const slow(false), fast(true);
  REQUIRE_THROWS_WITH(cpu::backend(1, &slow, bf16), contains("loops 1.0 does not compute bf16 on this processor"));
  CHECK(cpu::backend(1, &slow).arithmetic == float32);
  CHECK(cpu::backend(1, &fast, bf16).engine == &fast);
  CHECK(cpu::backend(1).engine == nullptr);
}

}  // namespace cpu_engine_tests
