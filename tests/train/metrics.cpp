// Tests the accuracy over rows with a target, and the standard error of a mean.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/metrics.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/views.hpp"

namespace train_metrics_tests {

using namespace triad;
using triad::test::WithinRel;

TEST_CASE("accuracy counts rows with a target") {
  std::vector<index_t> const predicted{1, 2, 3, 0}, target{1, 0, 3, -1};
  accuracy a;
  CHECK(std::isnan(a.fraction()));
  a.add(make_vec(predicted.data(), 4), make_vec(target.data(), 4));
  CHECK((a.correct == 2 && a.total == 3));
  a.add(make_vec(predicted.data(), 1), make_vec(target.data(), 1));
  CHECK_THAT(a.fraction(), WithinRel(0.75, 1e-15));
  CHECK_THROWS_WITH(a.add(make_vec(predicted.data(), 3), make_vec(target.data(), 4)),
                    triad::test::contains("accuracy: predicted is ("));
}

TEST_CASE("the mean of several runs has the standard error of the mean") {
  std::vector<double> const runs{1, 2, 3, 4};
  CHECK_THAT(mean_of(runs).mean, WithinRel(2.5, 1e-15));
  CHECK_THAT(mean_of(runs).standard_error, WithinRel(std::sqrt(5.0 / 3) / 2, 1e-14));
  CHECK(mean_of(std::vector<double>{7}).standard_error == 0);
  CHECK(std::isnan(mean_of({}).mean));
}

}  // namespace train_metrics_tests
