// What loaders share: sizes of graphs, their offsets, one copy to a backend's memory, and tables that stay there.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/batch_upload.hpp"

#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace batches_batch_upload_tests {

using namespace triad;
using test::contains;

bool same_dims(graph_dims const& a, graph_dims const& b) {
  return a.graphs == b.graphs && a.rows == b.rows && a.nodes == b.nodes && a.triangles == b.triangles &&
         a.max_nodes == b.max_nodes;
}

TEST_CASE("sizes of graphs add, grow to hold both, and fit where no part is larger") {
  CHECK(same_dims(dims_of(3), {1, 9, 3, 27, 3}));
  auto const sum = dims_of(3) + dims_of(2), most = larger(sum, dims_of(4));
  CHECK(same_dims(sum, {2, 13, 5, 35, 3}));
  CHECK(same_dims(most, {2, 16, 5, 64, 4}));
  CHECK((fits(sum, most) && fits(dims_of(4), most) && fits({}, dims_of(0))));
  for (auto member :
       {&graph_dims::graphs, &graph_dims::rows, &graph_dims::nodes, &graph_dims::triangles, &graph_dims::max_nodes}) {
    auto more = most;
    ++(more.*member);
    CHECK_FALSE(fits(more, most));
  }
  // Ten usual graphs, or one of the largest.
  CHECK(same_dims(room_for(10, 4, 5), {10, 160, 40, 800, 5}));
  CHECK(same_dims(room_for(2, 4, 9), {2, 81, 9, 729, 9}));
}

TEST_CASE("graphs that are added lie one behind the other until there is no room") {
  graph_offsets graphs({3, 14, 6, 40, 3});
  CHECK(graphs.has_room(3));
  CHECK_FALSE((graphs.has_room(0) || graphs.has_room(-1) || graphs.has_room(4) || graphs.has_room(most_nodes + 1)));
  CHECK(same_dims(graphs.add(3), {}));
  CHECK(same_dims(graphs.add(2), {1, 9, 3, 27, 3}));
  CHECK_FALSE(graphs.has_room(2));
  CHECK_THROWS_WITH(graphs.add(2), contains("graph_offsets: a graph of 2 nodes does not fit: the batch has"));
  CHECK(same_dims(graphs.dims(), {2, 13, 5, 35, 3}));
  CHECK(graphs.has_room(1));

  std::vector<std::vector<index_t>> lists;
  auto const batch = graphs.upload([&](std::vector<index_t> const& values, index_t count) {
    lists.emplace_back(values.begin(), values.begin() + count);
    return vec<index_t const>(values.data(), count);
  });
  CHECK(lists == std::vector<std::vector<index_t>>{{3, 2}, {0, 3}, {0, 9}, {0, 27}});
  CHECK((batch.size(1) == 2 && batch.node(1) == 3 && batch.edge(1) == 9 && batch.triangle(1) == 27));
  graphs.clear();
  CHECK(same_dims(graphs.dims(), {}));
}

TEST_CASE("a capacity that is none is refused with its name and number") {
  CHECK_THROWS_WITH(graph_offsets({1, 1, -2, 1, 1}),
                    contains("a loader's capacity: nodes is -2, expected 0 to 1152921504606846976"));
  CHECK_THROWS_WITH(expect_capacity({{"pairs", 3}, {"rows", (index_t{1} << 60) + 1}}),
                    contains("rows is 1152921504606846977"));
  CHECK_NOTHROW(expect_capacity({{"pairs", 0}, {"rows", index_t{1} << 60}}));
}

// A memory that the host computes in, but whose copies are counted.
struct counting_memory : host_memory {
  int* copies = nullptr;
  void from_host(void* to, void const* from, std::size_t bytes) const {
    ++*copies;
    host_memory::from_host(to, from, bytes);
  }
};
struct far_backend {
  using memory = counting_memory;
};

TEST_CASE("a batch is laid out on the host and goes over in one copy, always to the same place") {
  int copies = 0;
  batch_upload<far_backend> upload(3 * 128, {{}, &copies});
  std::vector<index_t> const numbers{7, 8, 9};
  std::vector<std::uint8_t> const bytes{1, 0, 1, 1};
  auto const put_all = [&](auto const& put) {
    auto const few = put(numbers, 2);
    auto const none = put(numbers, 0);
    return std::pair(std::pair(few, none), put(bytes, 4));
  };
  auto const [views, mask] = upload(put_all);
  CHECK(copies == 1);
  REQUIRE((views.first.extent(0) == 2 && views.second.extent(0) == 0 && mask.extent(0) == 4));
  CHECK((views.first(0) == 7 && views.first(1) == 8 && mask(0) == 1 && mask(1) == 0));
  CHECK(views.first.data_handle() != numbers.data());
  auto const again = upload(put_all);
  CHECK(again.first.first.data_handle() == views.first.data_handle());
  CHECK(copies == 2);
  CHECK_THROWS_WITH(upload([&](auto const& put) { return put(numbers, 4); }),
                    contains("batch_upload: there are not so many values"));
  CHECK_THROWS_AS(upload([&](auto const& put) { return std::pair(put(bytes, 4), put(std::vector<char>(400), 400)); }),
                  arena_too_small);
  CHECK(copies == 2);
}

TEST_CASE("a table is copied once, as the type it is kept as") {
  int copies = 0;
  constant_table<float, counting_memory> const table(std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3}, 3, {{}, &copies});
  CHECK(copies == 1);
  auto const view = table.view();
  REQUIRE((view.extent(0) == 2 && view.extent(1) == 3));
  CHECK((view(0, 0) == 0.5f && view(1, 2) == 3.0f));
  CHECK(constant_table<float, host_memory>(std::vector<double>{}, 0, {}).view().extent(0) == 0);
}

}  // namespace batches_batch_upload_tests
