// Tests memory sizes, the largest batch that fits into a memory size, and batches that are cut into parts.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/batch_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "shared/backend/memory_size.hpp"
#include "shared/run/learner.hpp"
#include "tests/catch.hpp"
#include "triad/cpu/backend.hpp"

namespace programs_batch_source_tests {

using namespace triad::programs;
using triad::index_t;
using triad::test::contains;

TEST_CASE("a size of memory is a number and a unit, and nothing else") {
  CHECK(bytes_of("1KiB", "--memory") == 1024);
  CHECK(bytes_of("900MiB", "--memory") == std::size_t{900} << 20U);
  CHECK(bytes_of("1.5GiB", "--memory") == std::size_t{3} << 29U);
  CHECK(bytes_of("2TiB", "--memory") == std::size_t{1} << 41U);
  for (auto const* text : {"", "24", "GiB", "24GB", "24G", "24 GiB", " 24GiB", "24GiB ", "24gib", "-1GiB", "0MiB",
                           "1e3MiB", "0x10MiB", "nanMiB", "infMiB", "1.2.3MiB", ".MiB", "99999999999TiB"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(bytes_of(text, "--memory"),
                      contains("--memory " + std::string(text) + ": a size is a number above 0 and KiB, MiB"));
  }
}

TEST_CASE("a size that is printed is enough, and reads back") {
  CHECK(told_size(1) == "1KiB");
  CHECK(told_size(10240) == "10KiB");
  CHECK(told_size(10241) == "11KiB");
  CHECK(told_size((std::size_t{10} << 20U) + 1) == "11MiB");
  CHECK(told_size(std::size_t{24} << 30U) == "24GiB");
  for (std::size_t bytes = 1; bytes < std::size_t{1} << 45U; bytes = bytes * 3 + 1) {
    auto const told = bytes_of(told_size(bytes), "");
    CHECK(told >= bytes);
    CHECK((told < bytes + bytes / 9 || bytes < 10240));
  }
}

TEST_CASE("the largest size that fits is found for every limit, in few questions") {
  int asked = 0;
  auto const bytes = [&](index_t size) {
    return ++asked, static_cast<std::size_t>(100 + 7 * (size / 3));
  };  // some sizes need the same memory
  for (index_t most : {1, 2, 50, 51})
    for (std::size_t limit = 90; limit < 240; ++limit) {
      index_t expected = 0;
      for (index_t size = 1; size <= most; ++size)
        if (bytes(size) <= limit) expected = size;
      asked = 0;
      CHECK(largest_within(limit, most, bytes) == expected);
      CHECK(asked <= 7);
    }
}

TEST_CASE("backends with threads plan for the same number of them") {
  auto const planned = [](int threads) {
    triad::cpu::backend ex(threads);
    return planning_alike(ex, [](triad::cpu::backend& alike) { return alike.threads; });
  };
  CHECK(planned(1) == 16);
  CHECK(planned(16) == 16);
  CHECK(planned(40) == 16);
}

// A learner that records its calls. Its memory is enough for examples whose sizes add up to 10.
struct told_learner final : learner {
  triad::share_range own{};
  std::vector<int> held;
  std::uint64_t steps = 0;
  std::vector<std::string> did;

  bool add(int example) {
    int sum = example;
    for (int const h : held) sum += h;
    if (sum > 10) return false;
    held.push_back(example);
    return true;
  }
  std::string batch() const {
    std::string text;
    for (int const h : held) text += " " + std::to_string(h);
    return text;
  }
  void update(double rate) override {
    did.push_back("update" + batch() + " at " + std::to_string(rate).substr(0, 3));
    ++steps;
  }
  void accumulate(double fraction) override {
    did.push_back("part" + batch() + " of " + std::to_string(fraction).substr(0, 4));
  }
  triad::share_range shares() const override { return own; }
  void begin_share(index_t share) override { did.push_back("share " + std::to_string(share)); }
  void finish(double rate) override {
    did.push_back("finish at " + std::to_string(rate).substr(0, 3));
    ++steps;
  }
  void rehearse() override {}
  std::vector<triad::update_record> const& records() override { return records_.assign(1, {steps, 1, 1}), records_; }
  int patience() const override { return 1; }
  void initialize(std::uint64_t) override {}
  void keep_averages(double) override {}
  void set_dropout(bool) override {}
  void begin_anew(std::uint64_t) override {}
  void save(std::string const&, run_record const&) override {}
  std::string load(triad::checkpoint const&, run_record const&) override { return {}; }
  std::string digest() const override { return {}; }
  std::uint64_t step() const override { return steps; }
  triad::trainer_bytes bytes() const override { return {}; }
  index_t parameters() const override { return 0; }
  std::string not_finite() const override { return {}; }

 private:
  std::vector<triad::update_record> records_;
};

// Batches of numbers. Each number is the size of an example, and also the number of answers of the example.
struct numbers final : batch_source {
  told_learner& net;
  std::vector<std::vector<int>> batches;
  bool may_be_cut = true;

  numbers(told_learner& n, std::vector<std::vector<int>> all) : net(n), batches(std::move(all)) {}
  /// Trains on all updates, from the first one.
  void train() {
    net.steps = 0;
    net.did.clear();
    triad::run(net, *this, {.epoch_updates = 1, .updates = batches.size(), .schedule = 0.5});
  }

 protected:
  std::size_t begin_update(std::int64_t update) override {
    batch_ = batches[static_cast<std::size_t>(update)];
    return batch_.size();
  }
  void clear() override { net.held.clear(); }
  bool add(std::size_t k) override { return net.add(batch_[k]); }
  double answer_count(std::size_t k) override { return batch_[k]; }
  bool may_cut() const override { return may_be_cut; }

 private:
  std::vector<int> batch_;
};

using list = std::vector<std::string>;

TEST_CASE("a batch is cut where the next example has no room, and its parts count by their answers") {
  told_learner net;
  numbers some(net, {{3, 3, 4}, {6, 5, 2, 3, 4}, {10, 10}, {}});
  some.train();
  CHECK(net.did == list{"update 3 3 4 at 0.5", "part 6 of 0.30", "part 5 2 3 of 0.50", "part 4 of 0.20",
                        "finish at 0.5", "part 10 of 0.50", "part 10 of 0.50", "finish at 0.5", "update at 0.5"});
  CHECK(most_parts(some, 0, 4) == 3);
  CHECK(most_parts(some, 0, 1) == 1);
  // An example that does not fit alone is an error, also if other examples precede it. A batch that does not fit and
  // must not be cut is also an error.
  CHECK_THROWS_WITH(numbers(net, {{11}}).train(), contains("no room of its own"));
  CHECK_THROWS_WITH(numbers(net, {{2, 11}}).train(), contains("no room of its own"));
  numbers bounded(net, {{6, 5}});
  bounded.may_be_cut = false;
  CHECK_THROWS_WITH(bounded.train(), contains("within its bounds has no room"));
}

TEST_CASE("of a batch in shares a process fills its own, each by itself") {
  told_learner net;
  std::vector<int> const five{6, 5, 2, 3, 4};  // shares of 4: {6} {5} {2} {3, 4}
  numbers whole(net, {five}), two(net, {{6, 5}}), four(net, {{6, 5, 2, 3}});
  net.own = {4, 0, 2};
  whole.train();
  CHECK(net.did == list{"share 0", "part 6 of 0.30", "share 1", "part 5 of 0.25", "finish at 0.5"});
  net.own = {4, 2, 4};
  whole.train();
  CHECK(net.did == list{"share 2", "part 2 of 0.10", "share 3", "part 3 4 of 0.35", "finish at 0.5"});
  // If there are fewer examples than shares, some shares are empty. begin_share() is called for empty shares, too.
  net.own = {4, 0, 4};
  two.train();
  CHECK(net.did ==
        list{"share 0", "share 1", "part 6 of 0.54", "share 2", "share 3", "part 5 of 0.45", "finish at 0.5"});
  CHECK(most_parts(two, 0, 1, 4) == 2);
  // A share is larger than the memory.
  net.own = {2, 0, 1};
  four.train();
  CHECK(net.did == list{"share 0", "part 6 of 0.37", "part 5 of 0.31", "finish at 0.5"});
}

}  // namespace programs_batch_source_tests
