// The results of one object of math_flags.cpp, and a description of its wrong results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

struct answers {
  std::vector<float> numbers;
  std::string wrong;  // one line for each wrong result

  void add(std::vector<float> const& some) { numbers.insert(numbers.end(), some.begin(), some.end()); }
  void expect(bool condition, char const* sentence) {
    if (!condition) wrong += std::string(sentence) + "\n";
  }
};

// The functions of the two objects: compiled without flags, and with flags that relax arithmetic.
answers by_no_flags();
answers by_flags();
