// Tests the rounding of matrices to bfloat16.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/rounding.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace cpu_rounding_tests {

using triad::cpu::round_matrix;
using narrow = triad::cpu::bfloat16;

TEST_CASE("a matrix is rounded with zeros around it") {
  std::vector<float> from(5 * 9);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = 1.0f + static_cast<float>(i) / 100;
  std::vector<narrow> to(8 * 16, narrow{0x1234});
  round_matrix(from.data(), 9, 5, 7, to.data(), 16, 6, 12);
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t c = 0; c < 16; ++c) {
      auto const bits = to[r * 16 + c].bits;
      if (r >= 6 || c >= 12)
        CHECK(bits == 0x1234);
      else
        CHECK(bits == (r < 5 && c < 7 ? triad::to_bfloat16(from[r * 9 + c]).bits : 0));
    }
}

}  // namespace cpu_rounding_tests
