// Tests the learning rates of runs with restarts, and the advice for a failed run. attempts.cpp tests runs.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/training.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace programs_training_tests {

using namespace triad::programs;

TEST_CASE("a run with restarts has the rates of the shorter runs that it went on from") {
  width_options o;
  o.rate = 1, o.warmup = 4;
  auto longer = o;
  longer.restarts = {10, 16};
  for (int update = 0; update < 10; ++update) CHECK(linear_rate(longer, 20, update) == linear_rate(o, 10, update));
  auto without_warmup = o;
  without_warmup.warmup = 0;
  for (int update = 10; update < 16; ++update)
    CHECK(linear_rate(longer, 20, update) == linear_rate(without_warmup, 6, update - 10));
  for (int update = 16; update < 20; ++update)
    CHECK(linear_rate(longer, 20, update) == linear_rate(without_warmup, 4, update - 16));
  CHECK(linear_rate(longer, 20, 10) == 1);
  CHECK(linear_rate(longer, 20, 16) == 1);
}

TEST_CASE("a run that failed is given more updates where its loss was still falling, and something else where not") {
  auto const of = [](std::vector<double> losses, bool diverged = false) {
    scored_run run;
    run.seed = 3, run.length = "epochs", run.failed = true, run.diverged = diverged, run.losses = std::move(losses);
    return remedy_of({scored_run(), run});
  };
  CHECK(of({4, 3, 2, 1.5, 1.2, 1}) == "seed 3 failed: its loss was still falling; give it more --epochs\n");
  CHECK(of({4}) == of({4, 3, 2}));  // there are too few epochs to see a trend
  CHECK(of({4, 3, 2, 1, 1, 1, 1}).find("try another --seed or --learning-rate") != std::string::npos);
  CHECK(of({4, 3, 2}, true).find("take a smaller --learning-rate") != std::string::npos);
  CHECK(remedy_of({scored_run()}).empty());
}

}  // namespace programs_training_tests
