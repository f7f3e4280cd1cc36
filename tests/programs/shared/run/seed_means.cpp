// Tests means over the seeds of one command.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/seed_means.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"

namespace programs_seed_means_tests {

using namespace triad::programs;

struct scored_run {
  double figure = 0;
  bool diverged = false, failed = false;
};

TEST_CASE("a mean is over the runs that came to an end, and says which did not and which have not learned") {
  auto const figure = [](scored_run const& r) { return r.figure; };
  double const none = std::nan("");
  std::vector<scored_run> const runs{{0.9, false, false}, {none, true, true}, {0.1, false, true}, {0.8, false, false}};
  CHECK(mean_over(runs, figure).mean == triad::mean_of(std::vector<double>{0.9, 0.1, 0.8}).mean);
  CHECK(whose_mean(runs, 5) == "mean of 3 of 4 seeds; seed 6 diverged; seed 7 did not learn and is in it");
  CHECK(first_scored(runs) == &runs[0]);
  CHECK(whose_mean(std::vector<scored_run>(3), 1) == "mean of 3 seeds");
  std::vector<scored_run> const none_left{{none, true, true}, {none, true, true}};
  CHECK(whose_mean(none_left, 1) == "mean of 0 of 2 seeds; seeds 1 and 2 diverged");
  CHECK(std::isnan(mean_over(none_left, figure).mean));
  CHECK(first_scored(none_left) == nullptr);
  std::vector<scored_run> const poor(3, {0, false, true});
  CHECK(whose_mean(poor, 1) == "mean of 3 seeds; seeds 1, 2 and 3 did not learn and are in it");
}

}  // namespace programs_seed_means_tests
