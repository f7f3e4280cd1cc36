// Tests the message if there is not enough memory for a model. It says which examples need the memory, how much is
// needed, and how much is available.
// SPDX-License-Identifier: Apache-2.0
#include "shared/backend/room_advice.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace programs_room_advice_tests {

using namespace triad::programs;
using triad::test::contains;

std::vector<sized_example> sized(std::vector<int> const& sizes, int than) {
  std::vector<sized_example> all;
  add_larger(
      all, than, sizes.size(), [&](std::size_t i) { return sizes[i]; },
      [](std::size_t i) { return "test.jsonl:" + std::to_string(i + 1); });
  return all;
}

TEST_CASE("all examples that are too large are reported at once, and of many the largest") {
  CHECK(sized({5, 3}, 5).empty());
  CHECK(told_sizes(sized({9, 3}, 5), "nodes") == "test.jsonl:1 has 9 nodes");
  CHECK(told_sizes(sized({9, 3, 6}, 5), "nodes") == "test.jsonl:1, test.jsonl:3 have 9, 6 nodes");
  CHECK_THAT(told_sizes(sized({9, 6, 6, 6, 6, 6, 6, 6, 6, 70}, 5), "words"),
             contains("test.jsonl:10, test.jsonl:1, test.jsonl:2, ") && contains(" and 2 more have up to 70 words"));
}

TEST_CASE("a refusal names the examples, or the batches, the memory and what there is of it") {
  room_advice advice{.batches = "batches of 32 graphs", .remedy = "take a smaller --batch", .unit = "nodes"};
  std::size_t const asked = std::size_t{5} << 30;
  CHECK_THROWS_WITH(refuse_room(advice, asked, std::size_t{1} << 30),
                    contains("there is not enough memory for batches of 32 graphs (5120MiB of memory, and this run has "
                             "1024MiB): take a smaller --batch"));
  CHECK_THROWS_WITH(refuse_room(advice, 0, std::nullopt),
                    contains("there is not enough memory for batches of 32 graphs: take a smaller --batch"));
  advice.larger = [] { return sized({3000}, 5); };
  CHECK_THROWS_WITH(refuse_room(advice, asked, std::size_t{1} << 30),
                    contains("test.jsonl:1 has 3000 nodes: 5120MiB of memory, and this run has 1024MiB; leave it out"));
  CHECK_THROWS_WITH(refuse_room(advice, 0, std::nullopt),
                    contains("test.jsonl:1 has 3000 nodes: there is not enough memory; leave it out"));
}

TEST_CASE("what is left of the memory is some") {
  auto const left = memory_left();
  if (left) CHECK(*left > 0);
}

}  // namespace programs_room_advice_tests
