// Tests the search for a first learning rate: the loss falls at the rate that is found, and the trainer does not
// change.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/find_rate.hpp"

#include <limits>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"

namespace train_find_rate_tests {

using namespace triad;

TEST_CASE("the rate that is found lowers the loss more than one far below and one far above") {
  test::small_run<cpu::backend> r;
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch, 9); };
  auto const before = r.learner.snapshot();
  auto const found = find_rate(r.learner, train, {.lowest = 1e-6, .highest = 10, .updates = 70});
  CHECK(r.learner.snapshot() == before);
  CHECK((found.rate > 1e-4 && found.rate < 1));
  REQUIRE(found.points.size() > 10);
  CHECK(found.points.size() < 70);  // the search stops where the loss rises
  for (std::size_t k = 1; k < found.points.size(); ++k) CHECK(found.points[k].rate > found.points[k - 1].rate);
  auto const loss_after = [&](double rate) {
    r.learner.restore(before);
    return fit(r.learner, train, {.epochs = 30, .schedule = rate}).epochs.back().loss;
  };
  auto const at = loss_after(found.rate);
  CHECK(at < loss_after(found.rate / 100));
  CHECK(at < loss_after(found.rate * 100));
}

TEMPLATE_TEST_CASE("weights that are no finite numbers to begin with are refused before the first update", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType> r;
  auto const values = r.learner.parameters().flat_values();
  values(0) = -std::numeric_limits<float>::infinity();
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch, 9); };
  CHECK_THROWS_WITH(find_rate(r.learner, train),
                    test::contains("find_rate: before its first update: value 0 of ") && test::contains(" is -inf"));
  CHECK(r.learner.step() == 0);
}

TEMPLATE_TEST_CASE(
    "where the loss falls at no rate, and where there are no batches, it is said and the trainer is as it was", "",
    TRIAD_TEST_BACKENDS) {
  test::small_run<TestType> r;
  auto const before = r.learner.snapshot();
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch, 9); };
  CHECK_THROWS_WITH(find_rate(r.learner, train, {.lowest = 5, .highest = 50, .updates = 12}),
                    test::contains("the loss fell at no rate from 5 to 50"));
  CHECK(r.learner.snapshot() == before);
  std::vector<test::small_graph> const none;
  auto const nothing = [&](std::uint64_t) { return batches(r.loader, none, test::add_small_graph); };
  CHECK_THROWS_WITH(find_rate(r.learner, nothing), test::contains("epoch 0 has no batches"));
  CHECK(r.learner.snapshot() == before);
  CHECK_THROWS_AS(find_rate(r.learner, train, {.lowest = 0}), contract_violation);
  auto const refused = [&](std::uint64_t epoch) {
    if (epoch > 1) throw std::runtime_error("no more data");
    return r.pass(epoch, 9);
  };
  CHECK_THROWS_WITH(find_rate(r.learner, refused), test::contains("no more data"));
  CHECK(r.learner.snapshot() == before);
}

}  // namespace train_find_rate_tests
