// Tests the training loop without a model: the position in a run, batches in parts, attempts, callbacks, and a run that
// is resumed within an epoch.
// SPDX-License-Identifier: Apache-2.0
#include "triad/train/run.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/train/small_graphs.hpp"
#include "triad/train/averages.hpp"

namespace train_run_tests {

using namespace triad;
using test::contains;
using list = std::vector<std::string>;

std::string text(double v) { return std::to_string(v).substr(0, 4); }

/// A learner that records its calls, and does not learn.
struct noting_learner {
  list did;
  std::uint64_t steps = 0, infinite_at = 0, spoiled_by = 0;  // updates
  share_range own{};
  int looks_every = 1;
  std::vector<update_record> waiting, found;

  std::uint64_t step() const { return steps; }
  void note(std::string what) { did.push_back(std::move(what)); }
  void made() {
    ++steps;
    waiting.push_back({steps - 1, steps == infinite_at ? std::nan("") : static_cast<double>(steps), 1});
  }
  void update(double rate) { note("update at " + text(rate)), made(); }
  void accumulate(double fraction) { note("part of " + text(fraction)); }
  share_range shares() const { return own; }
  void begin_share(index_t share) { note("share " + std::to_string(share)); }
  void finish(double rate) { note("finish at " + text(rate)), made(); }
  std::vector<update_record> const& records() {
    found = std::move(waiting);
    waiting.clear();
    return found;
  }
  int patience() const { return looks_every; }
  std::string not_finite() const { return spoiled_by > 0 && steps >= spoiled_by ? "value 0 of a is nan" : ""; }
  void set_dropout(bool drops) { note(drops ? "drops" : "drops nothing"); }
  template <class Work>
  auto with_averages(Work&& work) {
    note("averages in");
    auto result = work();
    note("averages out");
    return result;
  }
};

/// A source that has the same parts in every update.
struct same_parts {
  std::vector<batch_part> one{{}};
  std::vector<std::uint64_t> asked{};
  std::vector<batch_part> const& parts(std::uint64_t update, share_range const&) {
    return asked.push_back(update), one;
  }
};

TEST_CASE("a batch that is whole is an update, and one in parts or shares is each of them and a step") {
  noting_learner learner;
  same_parts source;
  run_options const once{.epoch_updates = 1, .updates = 1, .schedule = 0.5};
  run(learner, source, once);
  CHECK(learner.did == list{"update at 0.50", "averages in", "averages out"});
  learner = {};
  source.one = {{.fraction = 0.25, .whole = false}, {.fraction = 0.75, .whole = false}};
  run(learner, source, once);
  CHECK(learner.did == list{"part of 0.25", "part of 0.75", "finish at 0.50", "averages in", "averages out"});
  learner = {};
  learner.own = {4, 2, 4};
  source.one = {{.begins = 2, .empty = true, .whole = false},
                {.begins = 3, .fraction = 0.5, .whole = false},
                {.fraction = 0.5, .whole = false}};
  run(learner, source, once);
  CHECK(learner.did ==
        list{"share 2", "share 3", "part of 0.50", "part of 0.50", "finish at 0.50", "averages in", "averages out"});
}

/// Callbacks that record their calls in a list.
struct noting_callbacks : run_callbacks {
  list& did;
  int fits_after = 99, asked = 0;
  std::uint64_t stops_at = 0;
  bool stops_after_validation = false;
  std::vector<epoch_record> epochs{};
  std::optional<epoch_record> left{};

  explicit noting_callbacks(list& l) : did(l) {}
  bool fits() { return did.push_back("fits?"), ++asked >= fits_after; }
  void begin_attempt(run_place const& at) { did.push_back("attempt " + std::to_string(at.attempt)); }
  void before_epoch(run_place const& at) { did.push_back("epoch " + std::to_string(at.epoch)); }
  bool stops(bool) { return ++made == stops_at; }
  run_control after_update(update_record const& u) {
    did.push_back("made " + std::to_string(u.step));
    return run_control::go_on;
  }
  void after_look(run_place const& at, epoch_record const& e) {
    did.push_back("looked at " + std::to_string(e.updates) + " before " + std::to_string(at.update));
  }
  std::optional<double> validate(epoch_record const&) { return did.push_back("validate"), 0.25; }
  run_control after_validation(double v) {
    did.push_back("is worth " + text(v));
    return stops_after_validation ? run_control::stop : run_control::go_on;
  }
  run_control after_epoch(epoch_record const& e) {
    did.push_back("mean " + text(e.loss));
    epochs.push_back(e);
    return run_control::go_on;
  }
  void after_stop(epoch_record const& e) { did.push_back("stopped"), left = e; }

 private:
  std::uint64_t made = 0;
};

TEST_CASE("a run tells of updates where it looks, and of an epoch after it was validated with averages") {
  noting_learner learner;
  learner.looks_every = 2;
  same_parts source;
  noting_callbacks on(learner.did);
  auto const result =
      run(learner, source, {.epoch_updates = 3, .updates = 4, .dropout_updates = 3, .schedule = 1.0}, on);
  CHECK((!result.fits && !result.stopped));
  CHECK(learner.did == list{"epoch 0",        "drops",
                            "update at 1.00", "drops",
                            "update at 1.00", "made 0",
                            "made 1",         "looked at 2 before 2",
                            "drops",          "update at 1.00",
                            "made 2",         "looked at 3 before 3",
                            "averages in",    "validate",
                            "averages out",   "is worth 0.25",
                            "mean 2.00",      "epoch 1",
                            "drops nothing",  "update at 1.00",
                            "made 3",         "looked at 1 before 4",
                            "averages in",    "validate",
                            "averages out",   "is worth 0.25",
                            "mean 4.00"});
  CHECK(source.asked == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK((on.epochs[0].loss_sum == 6 && on.epochs[0].validation == 0.25 && on.epochs[1].last.step == 3));
}

TEST_CASE("attempts end with the first that fits, and each has the rates of a run of its own") {
  noting_learner learner;
  same_parts source;
  noting_callbacks on(learner.did);
  on.fits_after = 2;
  std::vector<std::uint64_t> rates;
  run_options o{.epoch_updates = 2, .updates = 3, .attempts = 4, .schedule = [&](std::uint64_t update) {
                  return rates.push_back(update), 1.0;
                }};
  CHECK(run(learner, source, o, on).fits);
  CHECK(learner.steps == 6);
  CHECK(rates == std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2});
  CHECK(source.asked == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  CHECK(std::count(learner.did.begin(), learner.did.end(), "attempt 1") == 1);
  CHECK(on.epochs.size() == 4);
  CHECK((on.epochs[1].updates == 1 && on.epochs[2].updates == 2 && on.epochs[3].epoch == 3));

  // The last attempt is not checked. With checks_fit_each_epoch, each epoch is checked. With checks_fit_first, the
  // start of an attempt is checked, too.
  auto const asked = [&](bool each, bool at_once, std::uint64_t steps) {
    noting_learner other;
    other.steps = steps;
    noting_callbacks never(other.did);
    o.attempts = 2, o.checks_fit_each_epoch = each, o.checks_fit_first = at_once;
    run(other, source, o, never);
    CHECK(other.steps == 6);
    return never.asked;
  };
  CHECK(asked(false, false, 0) == 1);
  CHECK(asked(true, false, 0) == 3);
  CHECK(asked(true, true, 0) == 4);
  CHECK(asked(true, true, 1) == 3);  // a partial epoch is not checked
  CHECK(asked(false, false, 6) == 0);
}

TEST_CASE("a callback stops a run within an epoch, at its end, or never") {
  for (std::uint64_t const at : {1, 2, 3, 9}) {
    noting_learner learner;
    learner.looks_every = 16;
    same_parts source;
    noting_callbacks on(learner.did);
    on.stops_at = at;
    auto const result = run(learner, source, {.epoch_updates = 2, .updates = 4}, on);
    CAPTURE(at);
    CHECK(result.stopped == (at < 9));
    CHECK(learner.steps == std::min<std::uint64_t>(at, 4));
    CHECK(on.left.has_value() == (at == 1 || at == 3));
    if (on.left) CHECK((on.left->updates == 1 && on.left->epoch == at / 2));
    CHECK(on.epochs.size() == std::min<std::uint64_t>(at, 4) / 2);
  }
  noting_learner learner;
  same_parts source;
  noting_callbacks on(learner.did);
  on.stops_after_validation = true;
  CHECK(run(learner, source, {.epoch_updates = 2, .updates = 4}, on).stopped);
  CHECK((learner.steps == 2 && on.epochs.size() == 1));
}

TEST_CASE("a loss or a weight that is no number ends a run before anything is asked of the model") {
  same_parts source;
  noting_learner lost, spoiled;
  noting_callbacks on_lost(lost.did), on_spoiled(spoiled.did);
  lost.infinite_at = 4;
  auto const of = [&](noting_learner& learner, noting_callbacks& on) {
    try {
      run(learner, source, {.epoch_updates = 3, .updates = 9, .name = "mine"}, on);
    } catch (run_diverged const& e) {
      return e;
    }
    return run_diverged("", {});
  };
  auto const by_loss = of(lost, on_lost);
  CHECK_THAT(by_loss.what(), contains("mine: update 3, of epoch 1, has the loss nan"));
  CHECK((by_loss.update.step == 3 && by_loss.weight.empty()));
  CHECK(on_lost.epochs.size() == 1);
  spoiled.spoiled_by = 6;
  auto const by_weight = of(spoiled, on_spoiled);
  CHECK_THAT(by_weight.what(), contains("mine: after epoch 1: value 0 of a is nan, expected a finite number"));
  CHECK((by_weight.update.step == 5 && by_weight.weight == "value 0 of a is nan"));
  CHECK(on_spoiled.epochs.size() == 1);
}

/// A source of small graphs in parts: each batch has four consecutive graphs of the data.
template <class Ex>
struct small_training : test::small_run<Ex> {
  run_learner<decltype(test::small_run<Ex>::learner)> asked{this->learner};
  std::vector<batch_part> held{};
  index_t room;  // number of samples in a part

  explicit small_training(index_t of = 4) : test::small_run<Ex>(keep::everything, 0.3), room(of) {}

  struct part_range {
    small_training* of;
    std::uint64_t update;
    struct iterator {
      part_range const* range;
      index_t at = 0;
      batch_part now{};
      batch_part const& operator*() const { return now; }
      iterator& operator++() { return at += range->of->room, now = range->part(at), *this; }
      bool operator!=(iterator const& other) const { return at < other.at; }
    };
    batch_part part(index_t at) const {
      auto const count = std::min(of->room, 4 - at);
      of->loader.clear();
      for (index_t i = 0; i < count; ++i)
        test::add_small_graph(of->loader,
                              of->data[(update * 4 + static_cast<std::uint64_t>(at + i)) % of->data.size()]);
      return {.fraction = static_cast<double>(count) / 4, .whole = count == 4};
    }
    iterator begin() const { return {this, 0, part(0)}; }
    iterator end() const { return {this, 4}; }
  };
  part_range parts(std::uint64_t update, share_range const&) { return {this, update}; }

  // The functions of a learner that run() calls.
  std::uint64_t step() const { return asked.step(); }
  void update(double rate) {
    auto const [in, targets] = this->loader.upload();
    asked.update(in, targets, rate);
  }
  void accumulate(double fraction) {
    auto const [in, targets] = this->loader.upload();
    this->learner.accumulate(in, targets, fraction);
  }
  void finish(double rate) { this->learner.finish(rate); }
  share_range shares() const { return this->learner.shares(); }
  void begin_share(index_t share) { this->learner.begin_share(share); }
  auto const& records() { return asked.records(); }
  static int patience() { return 2; }
  std::string not_finite() const { return asked.not_finite(); }
  void set_dropout(bool drops) { asked.set_dropout(drops); }
  template <class Work>
  auto with_averages(Work&& work) {
    return work();
  }
};

TEMPLATE_TEST_CASE("a run that is interrupted anywhere and goes on has the bits and the means of one that was not", "",
                   TRIAD_TEST_BACKENDS) {
  struct keeping : run_callbacks {
    std::uint64_t left;  // number of updates before the interruption
    std::vector<epoch_record> epochs{};
    epoch_record interrupted{};
    explicit keeping(std::uint64_t most) : left(most) {}
    bool stops(bool) { return --left == 0; }
    run_control after_epoch(epoch_record const& e) { return epochs.push_back(e), run_control::go_on; }
    void after_stop(epoch_record const& e) { interrupted = e; }
  };
  run_options const plan{.epoch_updates = 3, .updates = 7, .dropout_updates = 5, .schedule = linear_warmup{0.01, 2, 7}};
  for (index_t const room : {4, 3}) {
    small_training<TestType> whole(room);
    keeping all(99);
    run(whole, whole, plan, all);
    REQUIRE(all.epochs.size() == 3);
    for (std::uint64_t most = 1; most < 7; ++most) {
      small_training<TestType> first(room), second(room);
      keeping before(most), after(99);
      CHECK(run(first, first, plan, before).stopped);
      CHECK(first.step() == most);
      second.learner.restore(first.learner.snapshot());
      auto rest = plan;
      rest.interrupted = before.interrupted;
      run(second, second, rest, after);
      CAPTURE(room, most);
      CHECK(second.learner.snapshot() == whole.learner.snapshot());
      auto epochs = before.epochs;
      epochs.insert(epochs.end(), after.epochs.begin(), after.epochs.end());
      REQUIRE(epochs.size() == 3);
      for (std::size_t e = 0; e < 3; ++e) {
        CHECK((epochs[e].epoch == e && epochs[e].updates == all.epochs[e].updates));
        CHECK(epochs[e].loss == all.epochs[e].loss);
      }
    }
  }
}

TEMPLATE_TEST_CASE("averages are the parameters while a run validates, and no longer where that throws", "",
                   TRIAD_TEST_BACKENDS) {
  test::small_run<TestType> r;
  parameter_averages averages(r.ex, r.learner.parameters(), 0.9);
  run_learner asked(r.learner, averages);
  struct looking : run_callbacks {
    std::function<bool()> replaced;
    bool throws = false;
    int seen = 0;
    std::optional<double> validate(epoch_record const&) {
      if (replaced()) ++seen;
      if (throws) throw std::runtime_error("the data are gone");
      return 0.5;
    }
    run_control after_validation(double) { return replaced() ? run_control::stop : run_control::go_on; }
  } on;
  on.replaced = [&] { return r.learner.parameters().replaced(); };
  auto const source = [&](std::uint64_t epoch) { return r.pass(epoch); };
  CHECK_FALSE(run(asked, source, {.epochs = 2, .schedule = 0.01}, on).stopped);
  CHECK((on.seen == 2 && averages.count() == 6));
  on.throws = true;
  CHECK_THROWS_WITH(run(asked, source, {.epochs = 2, .schedule = 0.01}, on), "the data are gone");
  CHECK((on.seen == 3 && averages.count() == 9));
  CHECK_FALSE(averages.exchanged());
  // This call is refused while averages replace the parameters.
  r.learner.update(r.pass(0).begin()->in, r.pass(0).begin()->targets, 0.01);
}

}  // namespace train_run_tests
