// Tests that denormal numbers are treated as zero in tasks of the cpu backend, and nowhere else.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/kernels/denormals.hpp"

#include <atomic>
#include <limits>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cpu/kernels/tasks.hpp"
#include "triad/cpu/cpu.hpp"

namespace cpu_denormals_tests {

using namespace triad;
using test::lender, test::on_a_new_thread, test::soon;

constexpr float smallest = std::numeric_limits<float>::min();  // the smallest normal number

/// Returns half of `smallest`, which is denormal.  It is computed at run time.
float half() {
  float volatile x = smallest;
  return x * 0.5f;
}
/// Returns twice a denormal number, which is normal.
float twice(float denormal) {
  float volatile x = denormal;
  return x * 2.0f;
}

TEST_CASE("denormal results and operands are zero for the time of a scope, and scopes may lie within each other") {
  if (!cpu::without_denormals::possible()) return;
  float const denormal = half();
  REQUIRE(denormal > 0.0f);
  {
    cpu::without_denormals const outer;
    CHECK(half() == 0.0f);
    CHECK(twice(denormal) == 0.0f);
    {
      cpu::without_denormals const inner;
    }
    CHECK(half() == 0.0f);
  }
  CHECK(half() == denormal);
  CHECK(twice(denormal) == smallest);
}

TEST_CASE(
    "the tasks of the cpu backend know no denormal numbers, on each of its threads, and the caller keeps its own") {
  if (!cpu::without_denormals::possible()) return;
  for (cpu::borrowed_threads const borrowed : {cpu::borrowed_threads(nullptr), &lender::lend})
    for (int threads : {1, 2, 3})
      on_a_new_thread([&] {  // on a new thread, no measurements speak against helper threads
        CAPTURE(threads, borrowed != nullptr);
        cpu::backend ex(threads);
        ex.borrowed = borrowed;
        std::vector<float> found(static_cast<std::size_t>(threads), 1.0f);
        std::vector<std::thread::id> by(found.size());
        std::atomic<int> begun = 0;
        cpu::parallel_for(ex, threads, [&](index_t task, int) {
          ++begun;
          if (threads > 1) soon([&] { return begun == threads; });  // waits until each thread has a task
          found[static_cast<std::size_t>(task)] = half();
          by[static_cast<std::size_t>(task)] = std::this_thread::get_id();
        });
        CHECK(std::set<std::thread::id>(by.begin(), by.end()).size() == by.size());
        CHECK(found == std::vector<float>(found.size(), 0.0f));
        CHECK(half() > 0.0f);
        CHECK_THROWS_AS(cpu::parallel_for(ex, threads, [](index_t, int) { throw std::runtime_error("a task fails"); }),
                        std::runtime_error);
        CHECK(half() > 0.0f);
      });
}

TEST_CASE("Adam's moments of a parameter that gets no gradient any more end at zero, not at denormal numbers") {
  if (!cpu::without_denormals::possible()) return;
  cpu::backend ex(1);
  std::vector<float> p(1, 1.0f), m(1, smallest), v(1, smallest);
  std::vector<float> const none(1, 0.0f);
  std::vector<double> const rate(1, 1e-3);
  std::uint64_t const step = 1000;
  adam(ex, adam_options{}, vec<double const>(rate.data(), 1), &step, make_vec(p.data(), 1), make_vec(none.data(), 1),
       make_vec(m.data(), 1), make_vec(v.data(), 1));
  CHECK(m[0] == 0.0f);
  CHECK(v[0] == 0.0f);
  CHECK(p[0] == 1.0f);
}

}  // namespace cpu_denormals_tests
