// A complete program that uses triad: multiplies two matrices on the CPU backend, and prints the version of triad.
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "triad/triad.hpp"

int main() {
  float a[] = {1, 2, 3, 4, 5, 6};  // (2, 3)
  float b[] = {1, 0, 0, 1, 1, 1};  // (3, 2)
  float c[4];                      // (2, 2)

  triad::cpu::backend ex;
  triad::matmul(ex, triad::tensor<float, 2, 3>(a), triad::tensor<float, 3, 2>(b), triad::tensor<float, 2, 2>(c));

  std::cout << "triad " << triad::version << ": " << c[0] << " " << c[1] << " " << c[2] << " " << c[3] << "\n";
}
