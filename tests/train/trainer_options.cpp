// Tests the options of a trainer: the defaults, and the sum of a trainer's memory.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/trainer_options.hpp"

#include "tests/catch.hpp"

namespace train_trainer_options_tests {

using namespace triad;

TEST_CASE("a trainer learns, clips nothing and has its batches in one share, unless it is told otherwise") {
  trainer_options const o;
  CHECK(o.max_norm == 0);
  CHECK(o.memory == keep::everything);
  CHECK(o.shares == 1);
}

TEST_CASE("what a trainer will hold is the sum of its parts") {
  CHECK(trainer_bytes{1, 20, 300}.total() == 321);
  CHECK(trainer_bytes{1, 20, 300, 4000}.total() == 4321);
}

}  // namespace train_trainer_options_tests
