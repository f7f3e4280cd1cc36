// What a unit of math_flags.cpp computed, and what of it is not as it must be.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

struct answers {
  std::vector<float> numbers;
  std::string wrong;  // a line each

  void add(std::vector<float> const& some) { numbers.insert(numbers.end(), some.begin(), some.end()); }
  void expect(bool condition, char const* sentence) {
    if (!condition) wrong += std::string(sentence) + "\n";
  }
};

// The same source, compiled by no flags and by some that relax arithmetic.
answers by_no_flags();
answers by_flags();
