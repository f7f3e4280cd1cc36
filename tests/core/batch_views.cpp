// Tests that memory plan, upload and key of a recorded step use the same list of a batch's views.
// SPDX-License-Identifier: Apache-2.0
#include "triad/core/batch_views.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/replay_number.hpp"

namespace core_batch_views_tests {

using namespace triad;
using test::replay_number;

// A batch with a view of each kind, and a number.
struct some_batch {
  index_t rows = 0;
  vec<index_t const> label{nullptr, 0};           // (rows), its size is known beforehand
  tensor<float const, dyn, 2> point{nullptr, 0};  // (rows, 2), its size is known beforehand
  vec<index_t const> answer{nullptr, 0};          // its size is not known beforehand
  vec<float const> table{nullptr, 0};             // a table that all batches share
  vec<std::uint8_t const> mask{nullptr, 0};       // a mask that only some batches have
  double temperature = 1;
  template <class F>
  void each(F&& f) {
    f.value(rows, temperature);
    f(label, rows);
    f(point, rows);
    f(answer);
    f.table(table);
    f.maybe(mask);
  }
};

struct stored {
  std::vector<index_t> label{1, 2, 3}, answer{4, 5};
  std::vector<float> point = std::vector<float>(6), table = std::vector<float>(40);
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(8);
  some_batch batch(index_t rows = 3) const {
    some_batch b;
    b.rows = rows;
    b.label = vec<index_t const>(label.data(), rows);
    b.point = tensor<float const, dyn, 2>(point.data(), rows);
    b.answer = vec<index_t const>(answer.data(), 2);
    b.table = vec<float const>(table.data(), 40);
    b.mask = vec<std::uint8_t const>(mask.data(), 8);
    return b;
  }
};

TEST_CASE("a batch without memory keeps its sizes, tables and masks, and has no address of what a loader fills") {
  stored const all;
  auto const full = all.batch(), bare = without_memory(full);
  CHECK((bare.rows == 3 && bare.temperature == 1));
  CHECK((bare.label.data_handle() == nullptr && bare.label.extent(0) == 3));
  CHECK((bare.point.data_handle() == nullptr && bare.point.extent(0) == 3 && bare.point.extent(1) == 2));
  CHECK(bare.table.data_handle() == all.table.data());
  CHECK(bare.mask.data_handle() == all.mask.data());
  CHECK(bare.answer.data_handle() == all.answer.data());  // without given extents it is not changed
}

TEST_CASE("what is uploaded are the filled views and a mask that is there, each on a cache line with its slack") {
  stored const all;
  auto batch = all.batch();
  // label takes 24 bytes, point 24, answer 16 and mask 8: two cache lines each. The table is not uploaded.
  CHECK(upload_bytes(batch) == 4 * 128);
  batch.mask = vec<std::uint8_t const>(nullptr, 0);
  CHECK(upload_bytes(batch) == 3 * 128);
  CHECK(upload_bytes(batch, vec<index_t const>(all.answer.data(), 2)) == 4 * 128);
  CHECK(upload_bytes(some_batch{}) == 3 * 64);  // three empty views
}

TEST_CASE("a recorded step is known again, and not where any one view, size or number is another") {
  stored const all, elsewhere;
  auto const first = all.batch();
  auto const number = replay_number(first);
  CHECK(replay_number(all.batch()) == number);
  CHECK(replay_number(all.batch(2)) != number);
  auto const differs = [&](auto change) {
    auto other = first;
    change(other, elsewhere.batch());
    return replay_number(other) != number;
  };
  CHECK(differs([](auto& b, auto) { ++b.rows; }));
  CHECK(differs([](auto& b, auto) { b.temperature = 0.5; }));
  CHECK(differs([](auto& b, auto o) { b.label = o.label; }));
  CHECK(differs([](auto& b, auto o) { b.point = o.point; }));
  CHECK(differs([](auto& b, auto o) { b.answer = o.answer; }));
  CHECK(differs([](auto& b, auto o) { b.table = o.table; }));
  CHECK(differs([](auto& b, auto o) { b.mask = o.mask; }));
  CHECK(differs([](auto& b, auto) { b.mask = vec<std::uint8_t const>(b.mask.data_handle(), 7); }));
  CHECK(replay_number(first.answer) != replay_number(first.label));
}

}  // namespace core_batch_views_tests
