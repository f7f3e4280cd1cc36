// Tests the engine: correct kernels give the right values in every order of threads, and planted faults are found.
// Tests cuda/device/block.cuh and cuda/device/launch.cuh.
// SPDX-License-Identifier: Apache-2.0
//
// Only TSan finds two threads or two blocks that write to the same address. To test this, compile with
// -fsanitize=thread and read the report. The test of writes outside of shared memory finds a fault after the block has
// ended. ASan finds the fault at the access.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "triad/cuda/device/block.cuh"

namespace cuda_on_host_engine_tests {

using namespace triad;
using triad::cuda::block;
using triad::cuda::warp;
using triad::cuda_on_host::settings;
using triad::cuda_on_host::with_settings;
using triad::test::contains;

settings const in_order;
settings const orders[] = {
    in_order, {.shuffled = true, .seed = 1}, {.shuffled = true, .seed = 2}, {.shuffled = true, .seed = 3}};

struct none {};

/// Runs body(block) in every thread of every block.
template <class Shared = none, class F>
void run(int threads, index_t blocks, F const& body) {
  cuda_on_host::run({"a test", threads, blocks, std::is_same_v<Shared, none> ? 0 : sizeof(Shared)},
                    [&](cuda_on_host::thread_info const& t) { body(block(t)); });
}

struct floats {
  float at[256];
};

TEST_CASE("every thread of every block runs once and knows who it is") {
  for (auto const& s : orders) {
    with_settings const scope(s);
    std::vector<int> seen(5 * 96);
    bool right = true;
    run(96, 5, [&](block const& b) {
      right = right && b.threads() == 96 && b.blocks() == 5 && b.lane() == b.thread() % warp &&
              b.row() == b.thread() / warp;
      ++seen[static_cast<std::size_t>(b.index() * 96 + b.thread())];
    });
    CHECK(right);
    CHECK(std::count(seen.begin(), seen.end(), 1) == 5 * 96);
  }
}

TEST_CASE("blocks and threads are shuffled by the seed, and the same seed gives the same order") {
  auto const order = [](settings s) {
    with_settings const scope(s);
    std::vector<index_t> all;
    run(32, 10, [&](block const& b) { all.push_back(b.index() * 32 + b.thread()); });
    return all;
  };
  CHECK(order(orders[1]) == order(orders[1]));
  CHECK(order(orders[1]) != order(orders[2]));
  CHECK(order(in_order) != order(orders[1]));
}

TEST_CASE("after a barrier all threads see what the others wrote") {
  for (int threads : {32, 96, 256})
    for (auto const& s : orders) {
      with_settings const scope(s);
      std::vector<float> sums(static_cast<std::size_t>(threads));
      run<floats>(threads, 3, [&](block const& b) {  // inclusive prefix sums of 1, 2, 3, ...
        auto& x = b.shared<floats>();
        x.at[b.thread()] = static_cast<float>(b.thread() + 1);
        for (int step = 1; step < threads; step *= 2) {
          b.sync();
          float const before = b.thread() >= step ? x.at[b.thread() - step] : 0;
          b.sync();
          x.at[b.thread()] += before;
        }
        sums[static_cast<std::size_t>(b.thread())] = x.at[b.thread()];
      });
      for (int t = 0; t < threads; ++t)
        CHECK(sums[static_cast<std::size_t>(t)] == static_cast<float>((t + 1) * (t + 2) / 2));
    }
}

TEST_CASE("shuffles and ballots give each lane what the others brought") {
  for (auto const& s : orders) {
    with_settings const scope(s);
    bool right = true;
    run(64, 2, [&](block const& b) {
      double const mine = b.lane() + 0.5;
      right = right && b.shuffle_xor(mine, 5) == (b.lane() ^ 5) + 0.5;
      right = right && b.shuffle(b.thread(), 7) == b.row() * warp + 7;
      right = right && b.shuffle(b.thread(), b.lane() + 1) == b.row() * warp + (b.lane() + 1) % warp;
      right = right && b.shuffle(index_t{1} << b.lane(), 31) == index_t{1} << 31;
      right = right && b.ballot(b.lane() % 2 == 1) == 0xaaaaaaaau;
      right = right && warp_sum(b, 1.0f) == 32 && warp_maximum(b, b.lane()) == 31;
    });
    CHECK(right);
  }
}

TEST_CASE("after sync_warp the lanes of a warp see what the others wrote") {
  for (auto const& s : orders) {
    with_settings const scope(s);
    bool right = true;
    run<floats>(128, 2, [&](block const& b) {
      auto& x = b.shared<floats>();
      x.at[b.thread()] = static_cast<float>(b.thread());
      b.sync_warp();
      right = right && x.at[b.thread() ^ 1] == static_cast<float>(b.thread() ^ 1);
    });
    CHECK(right);
  }
}

TEST_CASE("shared memory is NaN when a block begins") {
  int numbers = 0;
  run<floats>(32, 4, [&](block const& b) {
    auto& x = b.shared<floats>();
    for (int i = b.lane(); i < 256; i += warp) {
      numbers += !std::isnan(x.at[i]);
      x.at[i] = 0;
    }
  });
  CHECK(numbers == 0);
}

// ---- planted faults -------------------------------------------------------------------------------------------------

TEST_CASE("without the barrier after a load, values are NaN in every order") {
  for (auto const& s : orders) {
    with_settings const scope(s);
    int numbers = 0;
    run<floats>(64, 1, [&](block const& b) {
      auto& x = b.shared<floats>();
      x.at[b.thread()] = 1;
      float sum = 0;
      for (int t = 0; t < 64; ++t) sum += x.at[t];
      numbers += !std::isnan(sum);
    });
    CHECK(numbers == 1);  // the last thread sees all numbers
  }
}

TEST_CASE("a neighbour that is read without a barrier is right in order, and wrong in others") {
  auto const wrong = [](settings s) {
    with_settings const scope(s);
    int count = 0;
    run<floats>(64, 1, [&](block const& b) {
      auto& x = b.shared<floats>();
      x.at[b.thread()] = 1;
      if (b.thread() > 0) count += x.at[b.thread() - 1] != 1;
    });
    return count;
  };
  CHECK(wrong(in_order) == 0);
  for (auto const& s : orders)
    if (s.shuffled) CHECK(wrong(s) > 10);
}

TEST_CASE("threads that return before a barrier are found, unless it is allowed") {
  auto const kernel = [](block const& b) {
    if (b.thread() >= 40) return;
    b.sync();
  };
  for (auto s : orders) {
    with_settings const scope(s);
    CHECK_THROWS_WITH(run(64, 2, kernel), contains("engine_test.cpp") && contains("barrier") && contains("return"));
    s.strict = false;
    with_settings const lenient(s);
    CHECK_NOTHROW(run(64, 2, kernel));
  }
}

TEST_CASE("threads at different barriers are found") {
  auto const kernel = [](block const& b) {  // defined outside the macro, where it would be a single line
    if (b.thread() % 3 == 0)
      b.sync();
    else
      b.sync();
  };
  for (auto const& s : orders) {
    with_settings const scope(s);
    CHECK_THROWS_WITH(run(64, 1, kernel), contains("is at the barrier at engine_test.cpp"));
  }
}

TEST_CASE("a lane that skips a shuffle is found") {
  for (auto const& s : orders) {
    with_settings const scope(s);
    CHECK_THROWS_WITH(run(64, 1,
                          [](block const& b) {
                            if (b.thread() != 37) (void)b.shuffle_xor(1, 1);
                            b.sync();
                          }),
                      contains("deadlock: 0 threads have returned, 33 wait at the barrier at engine_test.cpp") &&
                          contains("31 of warp 1 in shuffle_xor at engine_test.cpp"));
    CHECK_THROWS_WITH(run(64, 1,
                          [](block const& b) {
                            if (b.thread() != 37) (void)b.ballot(true);
                          }),
                      contains("ballot at engine_test.cpp") && contains("returned"));
  }
}

TEST_CASE("lanes at different operations or lines are found") {
  auto const lines = [](block const& b) {
    if (b.lane() < 16)
      (void)b.shuffle(1, 0);
    else
      (void)b.shuffle(1, 0);
  };
  auto const operations = [](block const& b) {
    if (b.lane() == 3)
      b.sync_warp();
    else
      (void)b.ballot(true);
  };
  for (auto const& s : orders) {
    with_settings const scope(s);
    CHECK_THROWS_WITH(run(32, 1, lines), contains("of its warp in shuffle at engine_test.cpp"));
    CHECK_THROWS_WITH(run(32, 1, operations),
                      contains("sync_warp at engine_test.cpp") && contains("ballot at engine_test.cpp"));
  }
  CHECK_THROWS_WITH(run(32, 1, [](block const& b) { (void)b.shuffle_xor(1, 32); }), contains("out of the warp"));
}

#if !defined(__SANITIZE_ADDRESS__)  // ASan stops at the access
TEST_CASE("what is written outside of shared memory is found") {
  for (int off : {-1, 256, 300})
    CHECK_THROWS_WITH(run<floats>(32, 3,
                                  [off](block const& b) {
                                    float* const x = b.shared<floats>().at;
                                    if (b.index() == 1 && b.thread() == 9) x[off] = 0;
                                  }),
                      contains("block 1 of 3") && contains("outside of its shared memory"));
}
#endif

TEST_CASE("more shared memory than a kernel declares is refused") {
  CHECK_THROWS_WITH(run<float>(32, 1, [](block const& b) { b.shared<floats>().at[0] = 1; }), contains("larger than"));
}

TEST_CASE("an exception in a kernel says where, unwinds its thread, and leaves the engine usable") {
  for (auto const& s : orders) {
    with_settings const scope(s);
    int alive = 0;
    struct counted {
      int& n;
      explicit counted(int& count) : n(count) { ++n; }
      counted(counted const&) = delete;
      ~counted() { --n; }
    };
    CHECK_THROWS_WITH(run(64, 7,
                          [&](block const& b) {
                            b.sync();
                            counted const c(alive);
                            if (b.index() == 5 && b.thread() == 33) throw std::runtime_error("too hot");
                          }),
                      contains("kernel a test, block 5 of 7, thread 33") && contains("too hot"));
    CHECK(alive == 0);
    int threads = 0;
    run(1024, 2, [&](block const& b) {
      b.sync();
      ++threads;
    });
    CHECK(threads == 2048);
  }
}

}  // namespace cuda_on_host_engine_tests
