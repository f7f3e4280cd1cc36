// Tests that walk() visits every tensor of fields once, in order, with its path.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/fields.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "triad/core/buffer.hpp"

namespace core_fields_tests {

using namespace triad;

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
  walk(all.left, [&](std::string const& path, auto) { paths.push_back(path); }, "model");
  CHECK(paths == std::vector<std::string>{"model.one"});
  paths.clear();
  walk_all(all, [&](std::string const& path, auto) { paths.push_back(path); });
  CHECK(paths == std::vector<std::string>{"left.one", "left.empty", "table", "right.one", "right.empty"});
  CHECK(count_values(all) == 13);
  static_assert(has_fields<outer_fields> && !has_fields<vec<int>>);
}

// Fields that have only one vector.
struct small_part {
  index_t count;
  template <class S>
  struct fields {
    vec<S> one;
    template <class F>
    constexpr void each(F&& f) {
      f("one", one);
    }
  };
  template <class S>
  fields<S> plan_params(arena& place) const {
    return {place.make<vec<S>>(count)};
  }
};

TEST_CASE("a part that is not wanted has its shapes and takes no memory") {
  buffer<> const memory(256);
  auto place = memory.place();
  auto const left_out = plan<float>(small_part{16}, place, false);
  CHECK((left_out.one.extent(0) == 16 && left_out.one.data_handle() == nullptr));
  CHECK(place.used() == 0);
  auto const wanted = plan<float const>(small_part{16}, place);
  static_assert(std::is_same_v<decltype(wanted), small_part::fields<float const> const>);
  CHECK(wanted.one.data_handle() == memory.data());
  CHECK(place.used() == 128);
}

}  // namespace core_fields_tests
