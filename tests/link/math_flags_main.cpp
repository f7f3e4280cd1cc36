// Compares the results of the two objects of math_flags.cpp. Prints a number that depends on every bit of the first
// object's results.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/link/math_flags.hpp"

int main() {
  auto const right = by_no_flags();
  std::string wrong = right.wrong;
  std::uint64_t bits = 0;
  for (float const x : right.numbers) {
    std::uint32_t word;
    std::memcpy(&word, &x, sizeof word);
    bits = bits * 6364136223846793005u + word;
  }
#if !defined(TRIAD_TEST_ALONE)
  auto const found = by_flags();
  wrong += found.wrong;
  if (found.numbers.size() != right.numbers.size()) wrong += "another count of numbers\n";
  std::size_t const count = std::min(found.numbers.size(), right.numbers.size());
  for (std::size_t i = 0; i < count; ++i) {
    double const x = found.numbers[i], y = right.numbers[i];
    if (!(std::abs(x - y) <= 1e-4 * (1 + std::abs(y))))
      wrong += "number " + std::to_string(i) + " is " + std::to_string(x) + ", not " + std::to_string(y) + "\n";
  }
#endif
  std::printf("%s%016llx\n", wrong.c_str(), static_cast<unsigned long long>(bits));
  return wrong.empty() ? 0 : 1;
}
