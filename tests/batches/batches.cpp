// Tests passes over a user's data: every sample occurs once, the seed determines the order, and no batch exceeds its
// limit.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/batches.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include "tests/catch.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/reference/reference.hpp"

namespace batches_batches_tests {

using namespace triad;
using test::contains;
using list = std::vector<index_t>;

// A sample whose answer is its index in the data.
struct sample {
  index_t nodes, number;
};
std::vector<sample> some(list const& nodes) {
  std::vector<sample> all;
  for (auto const n : nodes) all.push_back({n, static_cast<index_t>(all.size())});
  return all;
}
auto const add_one = [](auto& batch, sample const& s) { batch.add(s.nodes, 0, 0, s.number); };
auto const add_if_room = [](auto& batch, sample const& s) {
  if (!batch.has_room(s.nodes)) return false;
  batch.add(s.nodes, 0, 0, s.number);
  return true;
};

// The indices of the samples in each batch.
template <class Range>
std::vector<list> numbers(Range&& pass) {
  std::vector<list> found;
  for (auto const& [in, targets] : pass) {
    CHECK(in.graphs.dims.graphs == targets.extent(0));
    CHECK(pass.samples() == targets.extent(0));
    found.emplace_back(targets.data_handle(), targets.data_handle() + targets.extent(0));
    for (index_t k = 0; k < pass.samples(); ++k)
      CHECK(static_cast<index_t>(pass.sample(k)) == found.back()[static_cast<std::size_t>(k)]);
  }
  return found;
}
list joined(std::vector<list> const& parts) {
  list all;
  for (auto const& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

TEST_CASE("without a seed samples come in their order, as many a batch as are asked for, the rest at the end") {
  auto const data = some({3, 2, 4, 1, 3});
  graph_loader<reference::backend> loader(room_for(data, 2));
  CHECK(numbers(batches(loader, data, add_one, {.most = 2})) == std::vector<list>{{0, 1}, {2, 3}, {4}});
  CHECK(numbers(batches(loader, data, add_one, {.most = 1})).size() == 5);
  graph_loader<reference::backend> large(room_for(data, 9));
  CHECK(numbers(batches(large, data, add_one)) == std::vector<list>{{0, 1, 2, 3, 4}});
  std::vector<sample> const none;
  CHECK(numbers(batches(large, none, add_one)).empty());
}

TEST_CASE("a seed shuffles, each epoch in another way, and every sample comes once") {
  auto const data = some(list(50, 2));
  graph_loader<reference::backend> loader(room_for(data, 8));
  auto const order = [&](philox_key seed, std::uint64_t epoch) {
    return joined(numbers(batches(loader, data, add_one, {.shuffle = seed, .epoch = epoch, .most = 8})));
  };
  auto const first = order(1, 0);
  CHECK(first == order(1, 0));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted != first);
  for (std::size_t i = 0; i < sorted.size(); ++i) CHECK(sorted[i] == static_cast<index_t>(i));
  CHECK(order(1, 1) != first);
  CHECK(order(2, 0) != first);
  CHECK(order(2, 0) != order(1, 1));
  CHECK(order(0, 0) != sorted);  // 0 is a valid seed, too
}

TEST_CASE("a batch ends where add_one says that the next sample does not fit, and that one begins the next") {
  auto const data = some({4, 4, 1, 4, 1});
  // The capacity is enough for a graph of four nodes and a graph of one node.
  graph_loader<reference::backend> loader({8, 17, 8, 65 + 64, 4});
  CHECK(numbers(batches(loader, data, add_if_room)) == std::vector<list>{{0}, {1, 2}, {3, 4}});
  CHECK(numbers(batches(loader, data, add_if_room, {.most = 1})).size() == 5);
}

TEST_CASE("a sample that no batch has room for is reported by its place") {
  auto const data = some({2, 5, 2});
  graph_loader<reference::backend> loader(room_for_graphs(4, 2, 2));
  CHECK_THROWS_WITH(numbers(batches(loader, data, add_if_room)),
                    contains("sample 1 does not fit into an empty batch") && contains("room_for(data, most)"));
  CHECK_THROWS_WITH(numbers(batches(loader, data, add_one)),
                    contains("a graph of 5 nodes does not fit") && contains("room_for(data, most)"));
  CHECK_THROWS_WITH(batches(loader, data, add_one, {.most = 0}), contains("most is 0 samples a batch"));
}

TEST_CASE("a range begins again, and one of loaders whose upload is a pair gives both") {
  auto const data = some({3, 2});
  graph_loader<reference::backend> loader(room_for(data, 1));
  auto pass = batches(loader, data, add_one, {.most = 1});
  CHECK(numbers(pass) == numbers(pass));

  struct node {
    index_t position, filler;
  };
  std::vector<std::vector<node>> const trees{{{0, 1}}, {{0, 2}, {1, 3}}};
  tree_loader<reference::backend, float> pairs({tree_positions<>(2, 2), 1, 4, 2});
  auto const add_tree = [](auto& batch, std::vector<node> const& t) { batch.add(t, t); };
  index_t count = 0;
  for (auto const& [in, targets] : batches(pairs, trees, add_tree, {.most = 1})) {
    CHECK(in.symbols.extent(0) == 3);
    CHECK(targets.symbols(0) == ++count);
  }
  CHECK(count == 2);
}

// A pass holds references to the data and the loader.
template <class Data>
concept can_be_passed_over = requires(graph_loader<reference::backend>& loader, Data&& data) {
  { batches(loader, std::forward<Data>(data), add_one) } -> std::ranges::input_range;
};
static_assert(can_be_passed_over<std::vector<sample> const&>);
static_assert(!can_be_passed_over<std::vector<sample>>);

}  // namespace batches_batches_tests
