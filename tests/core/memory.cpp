// Memory and views: what is measured is what is taken, and a view reads the elements it says, also beyond 2^31 of them.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/call.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/series.hpp"
#include "triad/core/views.hpp"

namespace {

using namespace triad;
using triad::test::contains;

// ---- arena ----------------------------------------------------------------------------------------------------------

// Views of odd sizes, one of them empty, and a frame in the middle.
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
  // A vector's worth may be read after the last element of any view.
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

TEST_CASE("an arena that is asked for more than it has says so") {
  buffer<> const memory(256);
  auto place = memory.place();
  CHECK_NOTHROW(place.make<vec<float>>(48));  // 192 bytes and the slack
  CHECK_THROWS_AS(place.make<vec<float>>(1), contract_violation);
  auto again = memory.place();
  CHECK_THROWS_WITH(again.make<vec<float>>(49), contains("arena: more was asked for than was measured"));
  arena none;
  CHECK_NOTHROW(none.make<vec<float>>(index_t{1} << 40));
}

TEST_CASE("a buffer begins as zero and changes hands without copying") {
  buffer<> memory(1000);
  auto* const bytes = static_cast<unsigned char*>(memory.data());
  for (int i = 0; i < 1000; ++i) REQUIRE(bytes[i] == 0);
  buffer<> const other(std::move(memory));
  CHECK(other.data() == bytes);
  CHECK(memory.data() == nullptr);
}

TEST_CASE("pieces of a series lie one behind the other and come back by their slot") {
  auto const plan = [](arena& place) { return place.make<vec<float>>(20); };
  auto const bytes = planned_bytes([&](arena& place) { (void)plan_series(place, plan, 3); });
  buffer<> const memory(bytes);
  auto place = memory.place();
  auto const pieces = plan_series(place, plan, 3);
  CHECK(place.used() == bytes);
  for (index_t k = 0; k < 6; ++k) pieces.at(k)(19) = static_cast<float>(k);
  for (index_t k = 0; k < 3; ++k) CHECK(pieces.at(k)(19) == static_cast<float>(k + 3));
  CHECK(pieces.at(4).data_handle() == pieces.at(1).data_handle());
}

// ---- views ----------------------------------------------------------------------------------------------------------

TEST_CASE("a view as a matrix, its transpose and its blocks name the same elements") {
  std::vector<int> data(2 * 3 * 4);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i);
  tensor<int, 2, dyn, 4> const cube(data.data(), 3);
  auto const m = as_matrix(cube);
  REQUIRE(m.extent(0) == 6);
  REQUIRE(m.extent(1) == 4);
  auto const t = transposed(cube);
  auto const block = column_block(row_block(m, 1, 4), 2, 2), turned = row_block(transposed(m), 2, 2);
  for (index_t i = 0; i < 2; ++i)
    for (index_t j = 0; j < 3; ++j)
      for (index_t c = 0; c < 4; ++c) {
        CHECK(&m(i * 3 + j, c) == &cube(i, j, c));
        CHECK(&t(c, i * 3 + j) == &cube(i, j, c));
      }
  for (index_t r = 0; r < 4; ++r)
    for (index_t c = 0; c < 2; ++c) {
      CHECK(&block(r, c) == &m(r + 1, c + 2));
      CHECK(&turned(c, r) == &m(r, c + 2));
    }
  CHECK(as_matrix(transposed(t)).data_handle() == m.data_handle());
  CHECK(transposed(transposed(m)).stride(0) == 4);
  CHECK(as_matrix(vec<int>(data.data(), 5)).extent(0) == 1);
  CHECK(as_vec(cube).extent(0) == 24);
  static_assert(std::is_same_v<decltype(read_only(cube)), tensor<int const, 2, dyn, 4>>);
  CHECK(read_only(cube).data_handle() == data.data());
  CHECK(same_shape(m, row_block(m, 0, 6)));
  CHECK_FALSE(same_shape(m, t));
}

// Address space without memory behind it: what is touched costs a page.
struct vast_memory {
  std::size_t bytes;
  void* data;
  explicit vast_memory(std::size_t b)
      : bytes(b), data(mmap(nullptr, b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  vast_memory(vast_memory const&) = delete;
  vast_memory& operator=(vast_memory const&) = delete;
  ~vast_memory() {
    if (data != MAP_FAILED) munmap(data, bytes);
  }
};

TEST_CASE("elements beyond 2^31 and 2^32 are where they belong") {
  index_t const rows = index_t{8} * 1024 * 1024, d = 640;  // n = 1024, b = 8: 5.4e9 elements
  vast_memory const memory(static_cast<std::size_t>(rows * d));
  if (memory.data == MAP_FAILED) {
    WARN("no address space for 5 GiB here: not tested");
    return;
  }
  auto* const first = static_cast<std::uint8_t*>(memory.data);
  tensor<std::uint8_t, dyn, dyn> const x(first, rows, d);
  tensor<std::uint8_t, dyn, dyn, 1024, 640> const cube(first, 8, 1024);
  static_assert(sizeof(decltype(x)::size_type) == 8);
  CHECK(x.size() == static_cast<std::size_t>(rows * d));
  for (index_t const at :
       {(index_t{1} << 31) - 1, index_t{1} << 31, (index_t{1} << 32) - 1, index_t{1} << 32, rows * d - 1}) {
    CAPTURE(at);
    index_t const r = at / d, c = at % d;
    CHECK(&x(r, c) - first == at);
    CHECK(&as_matrix(x)(r, c) - first == at);
    CHECK(&transposed(x)(c, r) - first == at);
    CHECK(&as_vec(x)(at) - first == at);
    CHECK(&row_block(x, r, 1)(0, c) - first == at);
    CHECK(&cube(r >> 20, r >> 10 & 1023, r & 1023, c) - first == at);
    x(r, c) = 42;
    CHECK(first[at] == 42);
    CHECK(dropout_element(r, c, d) == static_cast<std::uint64_t>(at));  // 640 is a multiple of the block
  }
  arena measure;
  (void)measure.make<tensor<float, dyn, dyn>>(rows, d);
  CHECK(measure.used() == static_cast<std::size_t>(rows * d) * 4 + arena_slack);
}

// ---- fields ---------------------------------------------------------------------------------------------------------

struct inner_fields {
  vec<int> one, empty;
  template <class F>
  constexpr void each(F&& f) {
    f("one", one);
    f("empty", empty);
  }
};
struct outer_fields {
  inner_fields left, right;
  tensor<int, dyn, 2> table;
  template <class F>
  constexpr void each(F&& f) {
    f("left", left);
    f("table", table);
    f("right", right);
  }
};

TEST_CASE("walking fields gives dotted paths in their order and leaves out what is empty") {
  std::vector<int> data(20);
  outer_fields const all{{vec<int>(data.data(), 3), vec<int>(nullptr, 0)},
                         {vec<int>(data.data() + 3, 2), vec<int>(data.data(), 0)},
                         tensor<int, dyn, 2>(data.data() + 5, 4)};
  std::vector<std::string> paths;
  walk(all, [&](std::string const& path, auto view) { paths.push_back(path + ":" + std::to_string(view.size())); });
  CHECK(paths == std::vector<std::string>{"left.one:3", "table:8", "right.one:2"});
  paths.clear();
  walk(
      all.left, [&](std::string const& path, auto) { paths.push_back(path); }, "model");
  CHECK(paths == std::vector<std::string>{"model.one"});
  CHECK(count_values(all) == 13);
  static_assert(has_fields<outer_fields> && !has_fields<vec<int>>);
}

// ---- call -----------------------------------------------------------------------------------------------------------

void collect(call const& c, int levels, std::set<std::uint64_t>& paths, std::size_t& count) {
  paths.insert(c.path);
  ++count;
  if (levels > 0)
    for (index_t i : {0, 1, 2, 127, 253, 254}) collect(c.child(i), levels - 1, paths, count);
}

TEST_CASE("no two places of a model share a path, whatever their depth") {
  std::set<std::uint64_t> paths;
  std::size_t count = 0;
  collect(call{}, 4, paths, count);
  CHECK(count == 1 + 6 + 36 + 216 + 1296);
  CHECK(paths.size() == count);
}

TEST_CASE("a model of more children or levels than a path can hold is refused") {
  call c;
  CHECK_THROWS_WITH(c.child(255), contains("at most 255 children a level and eight levels"));
  CHECK_THROWS_AS(c.child(-1), contract_violation);
  for (int level = 0; level < 8; ++level) c = c.child(254);
  CHECK_THROWS_AS(c.child(0), contract_violation);
}

TEST_CASE("a call drops out in training alone, by its own key, step and path") {
  std::uint64_t const step = 4;
  call c;
  c.key = 9;
  c.step = &step;
  CHECK_FALSE(c.dropout(0.5).active());
  c.train = true;
  auto const mask = c.child(3).dropout(0.5);
  CHECK(mask.rate == 0.5);
  CHECK(mask.key == 9);
  CHECK(mask.path == c.child(3).path);
  CHECK(mask.step == &step);
}

}  // namespace
