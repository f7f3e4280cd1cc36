// Sizes of memory, the largest batch that fits, and batches cut into parts.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/batch_parts.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "shared/backend/memory_size.hpp"
#include "tests/catch.hpp"
#include "triad/cpu/backend.hpp"

namespace programs_batch_parts_tests {

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

TEST_CASE("a size that is told is enough, and reads back") {
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
  };  // some sizes need the same
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

// A learner that says what it was asked to do, with room for examples of 10 in all.
struct told_learner final : learner {
  triad::share_range own{};
  std::vector<int> held;
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
  void update(double rate) override { did.push_back("update" + batch() + " at " + std::to_string(rate).substr(0, 3)); }
  void accumulate(double fraction) override {
    did.push_back("part" + batch() + " of " + std::to_string(fraction).substr(0, 4));
  }
  triad::share_range shares() const override { return own; }
  void begin_share(index_t share) override { did.push_back("share " + std::to_string(share)); }
  void finish(double rate) override { did.push_back("finish at " + std::to_string(rate).substr(0, 3)); }
  void rehearse() override {}
  std::vector<triad::update_record> const& records() override { return records_; }
  int patience() const override { return 1; }
  void initialize(std::uint64_t) override {}
  void keep_averages(double) override {}
  void set_dropout(bool) override {}
  void exchange_averages() override {}
  void begin_anew(std::uint64_t) override {}
  void save(std::string const&, run_record const&) override {}
  std::string load(triad::checkpoint const&, run_record const&) override { return {}; }
  std::string digest() const override { return {}; }
  std::uint64_t step() const override { return 0; }
  triad::trainer_bytes bytes() const override { return {}; }
  index_t parameters() const override { return 0; }
  std::string not_finite() const override { return {}; }

 private:
  std::vector<triad::update_record> records_;
};

TEST_CASE("a batch is cut where the next example has no room, and its parts count by their answers") {
  told_learner net;
  std::vector<std::vector<int>> const batches{{3, 3, 4}, {6, 5, 2, 3, 4}, {10, 10}, {}};
  auto const fill = [&](std::int64_t update, batch_use const& use) {
    cut_batch(
        batches[static_cast<std::size_t>(update)], [&] { net.held.clear(); },
        [&](int example) { return net.add(example); }, [](int example) { return example; }, use, true);
  };
  using list = std::vector<std::string>;
  for (std::int64_t update = 0; update < 4; ++update) make_update(net, fill, update, 0.5);
  CHECK(net.did == list{"update 3 3 4 at 0.5", "part 6 of 0.30", "part 5 2 3 of 0.50", "part 4 of 0.20",
                        "finish at 0.5", "part 10 of 0.50", "part 10 of 0.50", "finish at 0.5", "update at 0.5"});
  CHECK(most_parts(fill, 0, 4) == 3);
  CHECK(most_parts(fill, 0, 1) == 1);
  // A fill of one part.
  net.did.clear();
  auto const plain = [&](std::int64_t, batch_use const& use) {
    net.held = {7};
    use.part({});
  };
  make_update(net, plain, 0, 0.5);
  CHECK(net.did == list{"update 7 at 0.5"});
  CHECK(most_parts(plain, 0, 3) == 1);
  // An example that never fits.
  auto const large = [&](std::int64_t, batch_use const& use) {
    cut_batch(
        std::vector<int>{11}, [&] { net.held.clear(); }, [&](int example) { return net.add(example); },
        [](int) { return 1; }, use, true);
  };
  CHECK_THROWS_WITH(make_update(net, large, 0, 0.5), contains("no room of its own"));
  // A batch that was said to have room.
  auto const bounded = [&](std::int64_t, batch_use const& use) {
    cut_batch(
        std::vector<int>{6, 5}, [&] { net.held.clear(); }, [&](int example) { return net.add(example); },
        [](int) { return 1; }, use);
  };
  CHECK_THROWS_WITH(make_update(net, bounded, 0, 0.5), contains("within its bounds has no room"));
}

TEST_CASE("of a batch in shares a process fills its own, each by itself") {
  told_learner net;
  std::vector<int> const batch{6, 5, 2, 3, 4};  // shares of 4: {6} {5} {2} {3, 4}
  auto const fill = [&](std::int64_t count, batch_use const& use) {
    cut_batch(
        std::vector<int>(batch.begin(), batch.begin() + count), [&] { net.held.clear(); },
        [&](int example) { return net.add(example); }, [](int example) { return example; }, use, true);
  };
  using list = std::vector<std::string>;
  net.own = {4, 0, 2};
  make_update(net, fill, 5, 0.5);
  CHECK(net.did == list{"share 0", "part 6 of 0.30", "share 1", "part 5 of 0.25", "finish at 0.5"});
  net.did.clear();
  net.own = {4, 2, 4};
  make_update(net, fill, 5, 0.5);
  CHECK(net.did == list{"share 2", "part 2 of 0.10", "share 3", "part 3 4 of 0.35", "finish at 0.5"});
  // Fewer examples than shares: some are empty, and begun all the same.
  net.did.clear();
  net.own = {4, 0, 4};
  make_update(net, fill, 2, 0.5);
  CHECK(net.did ==
        list{"share 0", "share 1", "part 6 of 0.54", "share 2", "share 3", "part 5 of 0.45", "finish at 0.5"});
  // A share that is larger than the room.
  net.did.clear();
  net.own = {2, 0, 1};
  make_update(net, fill, 4, 0.5);
  CHECK(net.did == list{"share 0", "part 6 of 0.37", "part 5 of 0.31", "finish at 0.5"});
}

}  // namespace programs_batch_parts_tests
