// Tests that an arena uses exactly the memory that it has measured. Also tests that the error for an impossible size
// has its number.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/arena.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"

namespace core_arena_tests {

using namespace triad;
using test::contains;

constexpr index_t huge = std::numeric_limits<index_t>::max();

// Views of odd sizes, one of which is empty, and a frame between them.
struct some_plan {
  vec<float> a;
  tensor<double, dyn, 3> b;
  vec<float> none;
  vec<char> last;

  explicit some_plan(arena& place, std::vector<std::size_t>* used = nullptr)
      : a(place.make<vec<float>>(17)), b(nullptr, 0), none(nullptr, 0), last(nullptr, 0) {
    {
      auto const frame = place.open();
      (void)place.make<vec<double>>(1000);
      if (used) used->push_back(place.used());
    }
    b = place.make<tensor<double, dyn, 3>>(5);
    none = place.make<vec<float>>(0);
    last = place.make<vec<char>>(1);
    if (used) used->push_back(place.used());
  }
};

TEST_CASE("an arena takes what it measured, at every point, and every view begins on a cache line") {
  std::vector<std::size_t> measured, taken;
  arena measure;
  some_plan const planned(measure, &measured);
  CHECK(measure.measuring());
  CHECK(planned.a.data_handle() == nullptr);
  CHECK(planned.b.extent(0) == 5);
  CHECK(measure.peak() > measure.used());

  buffer<> const memory(measure.peak());
  auto place = memory.place();
  some_plan const placed(place, &taken);
  CHECK(taken == measured);
  CHECK(place.used() == measure.used());
  CHECK(place.peak() == measure.peak());
  CHECK(planned_bytes([](arena& p) { some_plan const again(p); }) == measure.peak());
  for (void const* p :
       std::initializer_list<void const*>{placed.a.data_handle(), placed.b.data_handle(), placed.last.data_handle()})
    CHECK(reinterpret_cast<std::uintptr_t>(p) % arena_alignment == 0);
  // Kernels may read one vector beyond the last element of any view.
  auto const* const end = static_cast<char const*>(memory.data()) + place.used();
  CHECK(placed.last.data_handle() + 1 + arena_slack <= end);
  CHECK(reinterpret_cast<char const*>(placed.a.data_handle() + 17) + arena_slack <=
        reinterpret_cast<char const*>(placed.b.data_handle()));
}

TEST_CASE("frames give back what was taken since, in any nesting") {
  arena measure;
  (void)measure.make<vec<float>>(1);
  auto const before = measure.used();
  {
    auto const outer = measure.open();
    (void)measure.make<vec<float>>(100);
    {
      auto const inner = measure.open();
      (void)measure.make<vec<float>>(1000);
    }
    CHECK(measure.used() == before + 448 + arena_slack);
  }
  CHECK(measure.used() == before);
  CHECK(measure.peak() == before + 448 + 4032 + 2 * arena_slack);
}

TEST_CASE("an arena that is asked for more than it has throws") {
  buffer<> const memory(256);
  auto place = memory.place();
  CHECK_NOTHROW(place.make<vec<float>>(48));  // 192 bytes and the slack fit exactly
  CHECK_THROWS_AS(place.make<vec<float>>(1), contract_violation);
  auto again = memory.place();
  CHECK_THROWS_WITH(again.make<vec<float>>(49), contains("arena: more was asked for than was measured"));
  arena none;
  CHECK_NOTHROW(none.make<vec<float>>(index_t{1} << 40));
}

TEST_CASE("a plan whose bytes overflow, or with a size that is none, is refused with its numbers") {
  arena place;
  using square = tensor<float, dyn, dyn>;
  CHECK_THROWS_WITH(place.make<square>(index_t{1} << 32, index_t{1} << 30),
                    contains("4294967296 x 1073741824 values of 4 bytes are more than any memory"));
  CHECK_THROWS_WITH(place.make<square>(huge, huge), contains("more than any memory"));
  CHECK_THROWS_WITH(place.make<vec<double>>(-1), contains("arena: a size is -1, expected 0 or more"));
  CHECK_THROWS_WITH((place.make<tensor<float, dyn, 4>>(5, 3)), contains("a size is 3, expected 4"));
  CHECK_THROWS_WITH(place.make_workspace(~std::size_t{0}), contains("more than any memory"));
  CHECK_THROWS_WITH((void)place.cut(std::size_t{1} << 40, index_t{1} << 31),
                    contains("2147483648 pieces of 1099511627776 bytes are more than any memory"));
  CHECK_THROWS_WITH((void)place.cut(64, -1), contains("-1 pieces"));
  CHECK(place.used() == 0);
  CHECK(place.make<square>(0, huge).size() == 0);

  // Each view fits alone, but not all of them together.
  arena many;
  CHECK_NOTHROW(many.make<vec<std::uint8_t>>(index_t{1} << 61));
  CHECK_THROWS_WITH(many.make<vec<std::uint8_t>>(index_t{1} << 61), contains("more than any memory"));
}

TEST_CASE("an arena that is too small says how much is wanted and how much is left, and gives nothing") {
  buffer<> const memory(256);
  auto place = memory.place();
  (void)place.make<vec<float>>(16);
  CHECK_THROWS_WITH(place.make<vec<float>>(100), contains("512 bytes, where 128 of 256 are left"));
  CHECK_THROWS_AS(place.make<vec<float>>(100), arena_too_small);
  CHECK(place.used() == 128);
}

TEST_CASE("pieces that are cut out are an arena of their own, without slack between them") {
  arena measure;
  auto const unplaced = measure.cut(96, 2);
  CHECK(measure.used() == 192);
  CHECK(unplaced.measuring());

  buffer<> const memory(256);
  auto place = memory.place();
  auto own = place.cut(64, 2);
  CHECK(own.base() == memory.data());
  CHECK((place.used() == 128 && own.used() == 0));
  CHECK(own.make<vec<float>>(16).data_handle() == memory.data());  // 64 bytes and the slack fit exactly
  CHECK_THROWS_AS(own.make<vec<float>>(1), arena_too_small);
  CHECK(static_cast<void*>(place.make<vec<float>>(1).data_handle()) == static_cast<std::byte*>(memory.data()) + 128);
}

}  // namespace core_arena_tests
