// Tests training over epochs with a criterion to stop: the number of updates, the epoch at which training stops, and
// which parameters are kept.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/fit.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"
#include "triad/train/evaluate.hpp"

namespace train_fit_tests {

using namespace triad;
using test::contains;
using run = test::small_run<cpu::backend>;

TEMPLATE_TEST_CASE("epochs are the updates of their batches, at the rates of their schedule", "", TRIAD_TEST_BACKENDS) {
  test::small_run<TestType, double> by_fit, by_hand;
  linear_warmup const schedule{0.01, 2, 20};
  auto const found = fit(by_fit.learner, [&](std::uint64_t epoch) { return by_fit.pass(epoch); },
                         {.epochs = 2, .first_epoch = 3, .schedule = schedule});
  double sum = 0, largest = 0;
  for (std::uint64_t epoch = 3; epoch < 5; ++epoch)
    for (auto const& [in, targets] : by_hand.pass(epoch)) {
      by_hand.learner.update(in, targets, schedule.rate(by_hand.learner.step()));
      if (epoch == 3) sum += by_hand.learner.loss(), largest = std::max(largest, by_hand.learner.norm());
    }
  CHECK(by_fit.learner.snapshot() == by_hand.learner.snapshot());
  REQUIRE(found.epochs.size() == 2);
  CHECK((found.epochs[0].epoch == 3 && found.epochs[0].updates == 3 && found.epochs[1].epoch == 4));
  CHECK_THAT(found.epochs[0].loss, test::WithinRel(sum / 3, 1e-12));
  CHECK_THAT(found.epochs[0].largest_norm, test::WithinRel(largest, 1e-12));
  CHECK(found.best_epoch == 4);
}

TEST_CASE("it learns, and more updates than a trainer remembers are all counted") {
  run r;
  auto const found =
      fit(r.learner, [&](std::uint64_t epoch) { return r.pass(epoch / 100, 9); }, {.epochs = 1, .schedule = 0.0});
  CHECK(found.epochs[0].updates == 1);
  auto many = [&](std::uint64_t epoch) {
    auto again = r.data;
    for (int i = 0; i < 15; ++i) again.insert(again.end(), r.data.begin(), r.data.end());
    r.data = again;  // 144 samples in total
    return r.pass(epoch, 1);
  };
  auto const long_epoch = fit(r.learner, many, {.epochs = 1, .schedule = 3e-3});
  CHECK(long_epoch.epochs[0].updates == 144);
  CHECK(r.learner.step() == 145);
  r.data = test::small_graphs();
  fit(r.learner, [&](std::uint64_t epoch) { return r.pass(epoch, 9); }, {.epochs = 12, .schedule = 1e-2});
  CHECK(evaluate(r.learner, r.loader, test::small_graphs(), test::add_small_graph).accuracy == 1);
}

TEMPLATE_TEST_CASE("the epoch that the criterion is lowest for is restored, with its moments and its step", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType> r;
  std::vector<trainer_snapshot<float>> after;
  std::vector<double> const values{5, 2, std::nan(""), 2, 3, 4, 1};
  auto const criterion = [&](epoch_record const& e) {
    CHECK(e.epoch == after.size());
    after.push_back(r.learner.snapshot());
    return values[after.size() - 1];
  };
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch); };
  auto const stopped = fit(r.learner, train, {.epochs = 7, .schedule = 0.01, .each_epoch = criterion, .patience = 4});
  // A second value of 2 is not an improvement.
  CHECK((stopped.epochs.size() == 6 && stopped.best_epoch == 1 && stopped.best == 2));
  CHECK(r.learner.snapshot() == after[1]);
  CHECK(r.learner.step() == 6);

  test::small_run<TestType> whole;
  after.clear();
  auto const all =
      fit(whole.learner, [&](std::uint64_t epoch) { return whole.pass(epoch); },
          {.epochs = 7, .schedule = 0.01, .each_epoch = [&](epoch_record const& e) { return values[e.epoch]; }});
  CHECK((all.epochs.size() == 7 && all.best_epoch == 6 && all.best == 1));
  CHECK(whole.learner.step() == 21);
}

TEST_CASE("a loss that is no number ends a run with its update, and the best epoch so far is restored") {
  run r;
  trainer_snapshot<float> first;
  auto const criterion = [&](epoch_record const&) {
    if (first.values.empty()) first = r.learner.snapshot();
    return 1.0;
  };
  auto const rate = [](std::uint64_t update) { return update < 4 ? 0.01 : 1e300; };
  CHECK_THROWS_WITH(fit(r.learner, [&](std::uint64_t epoch) { return r.pass(epoch); },
                        {.epochs = 5, .schedule = rate, .each_epoch = criterion}),
                    contains("fit: update 5, of epoch 1, has the loss") && contains("lower the learning rate"));
  CHECK(r.learner.snapshot() == first);
}

TEMPLATE_TEST_CASE("weights that the last update of an epoch spoils end a run before anything is asked of them", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType> r;
  std::vector<trainer_snapshot<float>> asked;
  auto const criterion = [&](epoch_record const&) {
    asked.push_back(r.learner.snapshot());
    return 1.0;
  };
  auto const rate = [](std::uint64_t update) { return update < 5 ? 0.01 : 1e300; };  // 1e300 is infinite as a float
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch); };             // of 3 updates
  CHECK_THROWS_WITH(fit(r.learner, train, {.epochs = 2, .schedule = rate, .each_epoch = criterion}),
                    contains("fit: after epoch 1: value ") && contains("expected a finite number"));
  REQUIRE(asked.size() == 1);
  CHECK(r.learner.snapshot() == asked[0]);

  test::small_run<TestType> last;  // works without a criterion, too
  CHECK_THROWS_WITH(
      fit(last.learner, [&](std::uint64_t epoch) { return last.pass(epoch); }, {.epochs = 2, .schedule = rate}),
      contains("fit: after epoch 1: value "));
}

TEST_CASE("an epoch without batches, a criterion without numbers and no patience are refused") {
  run r;
  std::vector<test::small_graph> const none;
  auto const nothing = [&](std::uint64_t) { return batches(r.loader, none, test::add_small_graph); };
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch); };
  CHECK_THROWS_WITH(fit(r.learner, nothing, {}), contains("epoch 0 has no batches"));
  CHECK_THROWS_WITH(fit(r.learner, train, {.epochs = 2, .each_epoch = [](auto const&) { return std::nan(""); }}),
                    contains("each_epoch has given no finite number in 2 epochs"));
  CHECK_THROWS_WITH(
      fit(r.learner, train, {.epochs = 5, .each_epoch = [](auto const&) { return std::nan(""); }, .patience = 1}),
      contains("each_epoch has given no finite number in 1 epochs"));
  CHECK_THROWS_AS(fit(r.learner, train, {.patience = 0}), contract_violation);
}

TEST_CASE("epochs without an end are run from any first one until patience ends them") {
  run r;
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch); };
  double worse = 0;
  auto const found = fit(r.learner, train,
                         {.epochs = std::numeric_limits<std::uint64_t>::max(),
                          .first_epoch = 1,
                          .each_epoch = [&](auto const&) { return worse += 1; },
                          .patience = 2});
  CHECK(found.epochs.size() == 3);
  CHECK((found.best_epoch == 1 && found.epochs.back().epoch == 3));
}

TEST_CASE("callbacks are told of every update, of what was said of an epoch, and of the epoch, and stop a run") {
  run r;
  std::vector<std::string> did;
  auto const train = [&](std::uint64_t epoch) { return r.pass(epoch); };  // of 3 updates
  fit_options o{.epochs = 9, .schedule = 0.01};
  o.each_epoch = [&](epoch_record const& e) { return 5.0 - static_cast<double>(e.epoch); };
  o.after_update = [&](update_record const& u) { did.push_back("update " + std::to_string(u.step)); };
  o.after_validation = [&](double worth) { did.push_back("worth " + std::to_string(static_cast<int>(worth))); };
  o.after_epoch = [&](epoch_record const& e) {
    did.push_back("epoch " + std::to_string(e.epoch));
    CHECK((e.validation == 5.0 - static_cast<double>(e.epoch) && e.last.step == 3 * e.epoch + 2));
    return e.epoch == 1 ? run_control::stop : run_control::go_on;
  };
  auto const found = fit(r.learner, train, o);
  CHECK((found.stopped && found.epochs.size() == 2 && found.best_epoch == 1));
  CHECK(did == std::vector<std::string>{"update 0", "update 1", "update 2", "worth 5", "epoch 0", "update 3",
                                        "update 4", "update 5", "worth 4", "epoch 1"});
  CHECK(r.learner.step() == 6);

  // The best epoch is restored, even if a callback stops the next epoch.
  run other;
  trainer_snapshot<float> best;
  fit_options to_third{.epochs = 9, .schedule = 0.01};
  to_third.each_epoch = [&](epoch_record const& e) {
    if (e.epoch == 1) best = other.learner.snapshot();
    return std::abs(static_cast<double>(e.epoch) - 1);
  };
  to_third.after_validation = [](double worth) { return worth == 1 ? run_control::go_on : run_control::stop; };
  CHECK(fit(other.learner, [&](std::uint64_t epoch) { return other.pass(epoch); }, to_third).best == 0);
  CHECK(other.learner.snapshot() == best);

  run third;
  auto const first_loss =
      fit(third.learner, [&](std::uint64_t epoch) { return third.pass(epoch); },
          {.epochs = 9, .schedule = 0.01, .after_update = [](update_record const&) { return run_control::stop; }});
  CHECK((first_loss.stopped && first_loss.epochs.size() == 1));
}

TEST_CASE("an epoch's updates allocate nothing") {
  run r;
  auto pass = r.pass(0, 9);
  auto const batch = *pass.begin();
  // The same batch, ten times. Each iteration records how many allocations there were.
  struct counted {
    decltype(batch)* one;
    std::vector<long>* seen;
    struct iterator {
      counted const* of;
      int at;
      auto const& operator*() const {
        of->seen->push_back(test::allocations.load());
        return *of->one;
      }
      iterator& operator++() { return ++at, *this; }
      bool operator!=(iterator const& other) const { return at != other.at; }
    };
    iterator begin() const { return {this, 0}; }
    iterator end() const { return {this, 10}; }
  };
  std::vector<long> seen;
  seen.reserve(20);
  fit(r.learner, [&](std::uint64_t) { return counted{&batch, &seen}; }, {.epochs = 2, .schedule = 0.001});
  REQUIRE(seen.size() == 20);
  CHECK(seen[19] == seen[10]);
}

}  // namespace train_fit_tests
