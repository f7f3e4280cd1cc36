// Tests who computes the products of a program on the cpu backend.
// SPDX-License-Identifier: Apache-2.0
#include "shared/backend/products.hpp"

#include <string>

#include "tests/catch.hpp"
#include "triad/core/errors.hpp"

namespace programs_products_tests {

using namespace triad;
using namespace triad::programs;
using triad::test::contains;

TEST_CASE("--products auto and measure name BLAS or oneDNN, and other values stay") {
  CHECK(chosen_products("blas") == "blas");
  CHECK(chosen_products("onednn") == "onednn");
  auto const chosen = chosen_products("auto");
  CHECK((chosen == "blas" || chosen == "onednn"));
  auto const measured = chosen_products("measure");
  CHECK((measured == "blas" || measured == "onednn"));
  if (chosen == "onednn")
    CHECK(engine_of(measured, "float32") == (measured == "blas" ? nullptr : engine_of("auto", "float32")));
  CHECK((engine_of("auto", "float32") == nullptr) == (chosen == "blas"));
}

TEST_CASE("BLAS has no engine, and computes float32 alone") {
  CHECK(engine_of("blas", "float32") == nullptr);
  REQUIRE_THROWS_WITH(engine_of("blas", "bf16"), contains("--precision bf16 on the cpu backend needs oneDNN"));
}

}  // namespace programs_products_tests
