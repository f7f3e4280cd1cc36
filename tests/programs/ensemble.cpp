// Tests the mean of log-probabilities, in which all runs have the same weight.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/ensemble.hpp"

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_ensemble_tests {

using triad::programs::log_probability_sums;

std::vector<float> logs(std::vector<double> const& probabilities, double shift) {
  std::vector<float> all;
  for (double const p : probabilities) all.push_back(static_cast<float>(std::log(p) + shift));
  return all;
}

TEST_CASE("one run named twice does not answer together with itself") {
  triad::test::scratch_folder const folder;
  auto const run = [&](std::string const& name) {
    std::filesystem::create_directories(folder / name);
    triad::test::saved(folder, "a checkpoint", name + "/model.safetensors");
    return folder / name;
  };
  auto const one = run("one"), two = run("two"), three = run("three");
  CHECK_NOTHROW(triad::programs::expect_different_runs(one, {}));
  CHECK_NOTHROW(triad::programs::expect_different_runs(one, {two, three}));
  CHECK_THROWS_WITH(triad::programs::expect_different_runs(one, {two, one}),
                    triad::test::contains("one is named twice"));
  CHECK_THROWS_WITH(triad::programs::expect_different_runs(one, {two, two + "/model.safetensors"}),
                    triad::test::contains("is the run that " + two + " names"));
}

TEST_CASE("the class of the largest product of probabilities answers, whatever is added to a row of logits") {
  log_probability_sums sums(3);
  // The products of probabilities are 0.06, 0.08, 0.1 after two runs, and 0.015, 0.04, 0.025 after three runs.
  sums.add(0, logs({0.6, 0.2, 0.2}, 0));
  CHECK(sums.best(0) == 0);
  sums.add(0, logs({0.1, 0.4, 0.5}, 300));
  CHECK(sums.best(0) == 2);
  sums.add(0, logs({0.25, 0.5, 0.25}, -300));
  CHECK(sums.best(0) == 1);
}

TEST_CASE("rows come in parts, and the first of equal classes answers") {
  log_probability_sums sums(2);
  sums.add(0, {1, 1, 0, 2});
  sums.add(2, {5, 4});
  sums.add(0, {1, 1, 3, 0});
  sums.add(2, {0, 9});
  CHECK(sums.best(0) == 0);
  CHECK(sums.best(1) == 0);
  CHECK(sums.best(2) == 1);
  CHECK_THROWS_AS(sums.add(0, {1, 2, 3}), std::logic_error);
}

}  // namespace programs_ensemble_tests
