// Tests the name of the linked BLAS.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/blas.hpp"

#include <string>

#include "tests/catch.hpp"

namespace cpu_blas_tests {

using namespace triad::cpu;

TEST_CASE("the linked BLAS names itself") {
  auto const name = linked_blas();
  REQUIRE_FALSE(name.library.empty());
  if (openblas_get_config != nullptr) {
    CHECK(name.library.substr(0, 10) == "OpenBLAS 0");
    CHECK(name.library.find(' ', 10) == std::string::npos);  // no build options after the version
    CHECK_FALSE(name.kernels.empty());
  }
}

}  // namespace cpu_blas_tests
