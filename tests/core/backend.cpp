// Tests the optional hooks of a backend. A call of a missing hook does nothing.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/backend.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "triad/core/views.hpp"

namespace core_backend_tests {

using namespace triad;

struct plain {
  using memory = host_memory;
};

// A memory type with a number, so that the test can see which memory the backend returns.
struct numbered_memory : host_memory {
  int number = 0;
};

// Records the work of each key only once, as a device does.
struct recorder {
  using memory = numbered_memory;
  memory where() const { return {{}, 7}; }
  std::vector<std::uint64_t> keys{};
};
template <class Work>
void do_replay(recorder& ex, std::uint64_t key, Work& work) {
  for (auto known : ex.keys)
    if (known == key) return;
  ex.keys.push_back(key);
  work();
}
void do_forget_replays(recorder& ex) { ex.keys.clear(); }

static_assert(backend<plain> && backend<recorder> && backend<measuring<plain>> && !backend<int>);
static_assert(executes<plain> && !executes<measuring<plain>>);
static_assert(replays<recorder> && !replays<plain>);

TEST_CASE("a backend's memory is the one it says, or one without state") {
  CHECK(memory_of(recorder{}).number == 7);
  static_assert(std::is_same_v<decltype(memory_of(plain{})), host_memory>);
}

TEST_CASE("work is run each time where nothing records it, and by the hook where one does") {
  int runs = 0;
  auto const work = [&] { ++runs; };
  plain each_time;
  for (int i = 0; i < 3; ++i) replay(each_time, 1, work);
  forget_replays(each_time);
  CHECK(runs == 3);

  recorder once;
  for (std::uint64_t key : {5u, 5u, 6u}) replay(once, key, work);
  CHECK(runs == 5);
  forget_replays(once);
  replay(once, 5, work);
  CHECK(runs == 6);
}

TEST_CASE("a loop over elements is left out where memory is only measured, and workspaces are the real backend's") {
  plain real;
  measuring<plain> planner{&real};
  int loops = 0;
  on_host(real, [&] { ++loops; });
  CHECK(loops == 1);
  on_host(planner, [&] { ++loops; });
  CHECK(loops == 1);
  CHECK(&planning(planner) == &real);
  CHECK(&planning(real) == &real);
}

TEST_CASE("a workspace is the scratch memory's while work runs, and is counted where memory is only measured") {
  plain real;
  buffer<plain::memory> memory(1024);
  arena scratch = memory.place(), plan;
  std::byte* where = nullptr;
  with_workspace(real, scratch, 100, [&](auto ws) {
    CHECK(ws.bytes == 100);
    CHECK(scratch.used() == arena_stride(100));
    where = ws.data;
  });
  CHECK(where == scratch.base());
  CHECK(scratch.used() == 0);
  CHECK_THROWS_AS(with_workspace(real, scratch, 100, [](auto) { throw 5; }), int);
  CHECK(scratch.used() == 0);

  measuring<plain> planner{&real};
  with_workspace(planner, plan, 100, [](auto ws) { ws.this_is_not_compiled(); });
  CHECK(plan.used() == 0);
  CHECK(plan.peak() == scratch.peak());
}

}  // namespace core_backend_tests
