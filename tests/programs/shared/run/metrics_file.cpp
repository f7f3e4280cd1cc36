// Tests values that are read from metrics.csv: the best epoch of an attempt, and the number of epochs after it.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/metrics_file.hpp"

#include <utility>

#include "tests/catch.hpp"

namespace programs_metrics_file_tests {

using triad::programs::metrics_file;

/// Returns a file with a line for each value. The lines are ten updates apart.
metrics_file file_of(std::initializer_list<char const*> values) {
  metrics_file file({}, 0);
  int epoch = 0;
  for (auto const* value : values) {
    ++epoch;
    file.add(std::to_string(epoch) + "," + std::to_string(10 * epoch) + ",1,1,1," + value + ",1,1");
  }
  return file;
}

TEST_CASE("epochs behind the best one are counted, and one that is as good is no better") {
  CHECK(file_of({}).since_best(0, false) == -1);
  CHECK(file_of({"0.5"}).since_best(0, false) == 0);
  auto const file = file_of({"0.5", "0.9", "0.9", "0.7"});
  CHECK(file.since_best(0, false) == 2);
  CHECK(file.before_last(2) == std::pair<std::uint64_t, double>(20, 0.9));
}

TEST_CASE("of a loss the lowest is the best") {
  CHECK(file_of({"2.5", "1.5", "1.5", "1.7"}).since_best(0, true) == 2);
  CHECK(file_of({"2.5", "1.5", "1.2"}).since_best(0, true) == 0);
}

TEST_CASE("an attempt is compared with its own epochs alone") {
  auto const file = file_of({"0.9", "0.8", "0.3", "0.2"});
  CHECK(file.since_best(20, false) == 1);
  CHECK(file.since_best(40, false) == -1);
}

}  // namespace programs_metrics_file_tests
