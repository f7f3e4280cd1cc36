// Tests the attempts of a run. New attempts with new initial values begin until the model answers its training
// examples.
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "shared/run/interrupts.hpp"
#include "shared/run/training.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_attempts_tests {

using namespace triad::programs;
using triad::index_t;

/// A learner that counts calls, and does not learn.
struct counting_learner final : learner {
  std::vector<std::uint64_t> begun;                          // the seeds of initial values
  std::uint64_t steps = 0, infinite_at = 0, spoiled_by = 0;  // updates
  std::vector<double> rates;
  std::vector<triad::update_record> found;
  bool has_folder = false;

  void update(double rate) override { rates.push_back(rate), ++steps; }
  void accumulate(double) override {}
  triad::share_range shares() const override { return {}; }
  void begin_share(index_t) override {}
  void finish(double rate) override { update(rate); }
  void rehearse() override {}
  std::vector<triad::update_record> const& records() override {
    found.assign(1, {steps - 1, steps == infinite_at ? std::numeric_limits<double>::infinity() : 1, 1});
    return found;
  }
  int patience() const override { return 1; }
  void initialize(std::uint64_t seed) override { begun.push_back(seed); }
  void keep_averages(double) override {}
  void set_dropout(bool) override {}
  void begin_anew(std::uint64_t seed) override { begun.push_back(seed); }
  void save(std::string const&, run_record const&) override {
    if (!has_folder) throw std::logic_error("there is no folder");
  }
  std::string load(triad::checkpoint const&, run_record const&) override { throw std::logic_error("nor a checkpoint"); }
  std::string digest() const override { return {}; }
  std::uint64_t step() const override { return steps; }
  triad::trainer_bytes bytes() const override { return {}; }
  index_t parameters() const override { return 0; }
  std::string not_finite() const override {
    return spoiled_by > 0 && steps >= spoiled_by ? "value 0 of readout.bias is nan" : std::string();
  }
};

struct fitting_at final : training {
  counting_learner learns;
  int fits_after, most, asked = 0;  // fits_after and most are numbers of attempts
  int validated = 0, scored = 0;
  std::vector<std::int64_t> numbers;
  training* before = nullptr;
  bool ends_early = false;
  std::string watched{};  // a file; the learner records whether it existed at some update
  bool saw_watched = false;

  fitting_at(int after, int of) : fits_after(after), most(of) {}
  learner& net() override { return learns; }
  training* first() override { return before; }
  run_plan plan() override { return {.model = "none", .updates = 5, .epoch_updates = 2, .batch = 3, .attempts = most}; }
  std::size_t begin_update(std::int64_t number) override {
    numbers.push_back(number);
    return 1;
  }
  void clear() override {}
  bool add(std::size_t) override { return true; }
  double rate(std::int64_t update) override {
    saw_watched = saw_watched || std::filesystem::exists(watched);
    return static_cast<double>(update);
  }
  double validate() override { return ++validated, 0; }
  std::vector<part_scores> score() override { return ++scored, std::vector<part_scores>(); }
  bool fits() override { return ++asked >= fits_after; }
};

run_log log_of(fitting_at& t) {
  auto plan = t.plan();
  plan.seed = 7, plan.ends_early = t.ends_early;
  return train(t, plan);
}

TEST_CASE("attempts end with the first that fits, each has the rates of a run of its own and other first values") {
  fitting_at t(2, 4);  // the weights of the second attempt fit
  auto const log = log_of(t);
  CHECK(log.attempts == 2);
  CHECK(log.losses.size() == 6);  // each attempt has epochs of 2, 2 and 1 updates
  CHECK(t.learns.steps == 10);
  CHECK(t.asked == 2);
  CHECK(t.learns.rates == std::vector<double>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(t.learns.begun == std::vector<std::uint64_t>{7, 7 + (std::uint64_t{1} << 40U)});
  // Rehearsals request batch 0. Then each update requests the next batch, also across attempts.
  CHECK(std::vector<std::int64_t>(t.numbers.end() - 10, t.numbers.end()) ==
        std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("a run that stopped between two attempts asks whether the first fits before another begins") {
  for (int const after : {1, 9}) {
    fitting_at t(after, 2);
    t.learns.steps = 5;
    auto const log = log_of(t);
    CHECK(log.attempts == (after == 1 ? 1 : 2));
    CHECK(t.learns.steps == (after == 1 ? 5 : 10));
    CHECK(t.asked == 1);
  }
}

TEST_CASE("where attempts end early, every epoch asks whether its weights fit, and so does one that goes on") {
  fitting_at t(4, 3);  // epochs of 2, 2 and 1 updates
  t.ends_early = true;
  CHECK(log_of(t).attempts == 2);
  CHECK(t.asked == 4);
  CHECK(t.learns.steps == 7);  // 5 + 2: the second epoch of the second attempt does not begin
  CHECK(t.learns.begun.size() == 2);
  fitting_at on(1, 3);
  on.ends_early = true, on.learns.steps = 7;
  CHECK(log_of(on).attempts == 2);
  CHECK(on.asked == 1);
  CHECK(on.learns.steps == 7);
}

TEST_CASE(
    "of two trainings both end early, the second before its first update, and the first's attempts are the run's") {
  fitting_at first(4, 3), second(99, 1);
  second.before = &first;
  run_options o;
  auto const run = train_one(o, second, {});
  CHECK(first.learns.steps == 7);
  CHECK(second.learns.steps == 5);
  CHECK(second.asked == 3);  // at the start, and after two of its three epochs
  CHECK(run.attempts == 2);
  CHECK(run.losses.size() == 3);
  fitting_at other(1, 1), fitting(1, 1);
  fitting.before = &other;
  auto const at_once = train_one(o, fitting, {});
  CHECK(other.learns.steps == 2);
  CHECK(fitting.learns.steps == 0);
  CHECK(fitting.asked == 1);
  CHECK(at_once.losses.empty());
  CHECK(at_once.attempts == 1);
  fitting_at before(1, 1), midway(2, 1);
  midway.before = &before;
  CHECK(train_one(o, midway, {}).losses.size() == 1);
  CHECK(midway.learns.steps == 2);
  fitting_at ended(1, 1), within(9, 1);  // a partial epoch is not checked
  within.before = &ended, ended.learns.steps = 5, within.learns.steps = 3;
  train_one(o, within, {});
  CHECK(within.learns.steps == 5);
  CHECK(within.asked == 1);
  fitting_at broken(1, 1), never(1, 1);
  never.before = &broken, broken.learns.infinite_at = 1;
  auto const stopped = train_one(o, never, {});
  CHECK(stopped.diverged);
  CHECK(stopped.failed);
  CHECK(never.learns.steps == 0);
}

TEST_CASE("what another training began with is set aside before these weights change, and not where they do not") {
  triad::test::scratch_folder const folder;
  std::filesystem::create_directories(folder / "run/first");
  auto const file = triad::test::saved(folder, "of weights that are gone", "run/model.safetensors");
  fitting_at ended(1, 1), t(9, 1);
  auto const go_on = [&](fitting_at& one) {
    one.learns.has_folder = true, one.watched = file;
    auto plan = one.plan();
    plan.out = folder / "run/first", plan.leads_to = folder / "run";
    return train(one, plan);
  };
  ended.learns.steps = 5;
  CHECK(go_on(ended).updates == 0);
  CHECK(std::filesystem::exists(file));
  CHECK(go_on(t).updates == 5);
  CHECK_FALSE(t.saw_watched);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(std::filesystem::exists(file + ".old"));
}

TEST_CASE("a loss that is not finite ends the run, whatever attempts are left") {
  fitting_at t(9, 3);
  t.learns.infinite_at = 3;
  auto const log = log_of(t);
  CHECK(log.diverged);
  CHECK(log.attempts == 1);
  CHECK(t.learns.steps == 3);
}

TEST_CASE("weights that the last update of an epoch, or of a run, has spoiled are neither validated, kept nor scored") {
  for (std::uint64_t const update : {1, 2, 5}) {  // epochs of 2, 2 and 1 updates
    fitting_at t(1, 2);
    t.learns.spoiled_by = update;
    auto const run = train_one({}, t, {});
    CHECK((run.diverged && run.failed));
    CHECK(t.learns.steps == (update == 1 ? 2 : update));  // within an epoch, reading the loss reports an error
    CHECK(t.validated == (update == 5 ? 2 : 0));
    CHECK((t.scored == 0 && t.asked == 0));
    CHECK(run.losses.size() == (update == 5 ? 2 : 0));
  }
}

TEST_CASE("the last attempt is not asked whether it fits, and one attempt is a run as ever") {
  fitting_at never(99, 3), once(99, 1);
  CHECK(log_of(never).attempts == 3);
  CHECK(never.asked == 2);
  CHECK(never.learns.steps == 15);
  CHECK(log_of(once).attempts == 1);
  CHECK(once.asked == 0);
  CHECK(once.learns.steps == 5);
}

TEST_CASE("the seeds of a command come one after the other, and after them its options are as before") {
  run_options o;
  o.seed = 5, o.seeds = 3;
  seed_runs all(o, "");
  std::vector<std::uint64_t> seeds;
  while (all.next()) {
    CHECK((all.is_first() == seeds.empty() && o.seeds == 1 && all.out().empty()));
    fitting_at t(1, 1);
    auto const* const run = all.train(t);
    REQUIRE(run);
    CHECK((run->seed == o.seed && t.learns.begun.front() == o.seed));
    seeds.push_back(o.seed);
  }
  CHECK(seeds == std::vector<std::uint64_t>{5, 6, 7});
  CHECK((o.seed == 5 && o.seeds == 3 && all.all().size() == 3));

  seed_runs other(o, "");
  fitting_at t(1, 1);
  REQUIRE(other.next());
  interrupted = SIGTERM;
  CHECK(other.train(t) == nullptr);
  interrupted = 0;
  CHECK((t.learns.steps == 1 && other.all().empty()));
}

}  // namespace programs_attempts_tests
