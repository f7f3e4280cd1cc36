// Uses a loader whose upload() returns only the batch, without targets.
// expect: batches: a loader's upload() gives the batch and its targets as a pair
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "triad/batches/batches.hpp"
#include "triad/core/backend.hpp"

struct numbers {
  using memory = triad::host_memory;
  int sum = 0;

  void clear() { sum = 0; }
  int dims() const { return sum; }
#ifdef MISUSE
  int upload() { return sum; }
#else
  std::pair<int, int> upload() { return {sum, -sum}; }
#endif
};

int total(std::vector<int> const& data) {
  numbers loader;
  auto const add_one = [](numbers& batch, int n) { batch.sum += n; };
  int all = 0;
  for (auto const& both : triad::batches(loader, data, add_one)) all += both.in;
  return all;
}
