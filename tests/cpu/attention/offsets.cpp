// Tests relative positions on the scores of small heads: numbers that are added by offset, and sums by offset.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/attention/offsets.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace cpu_offsets_tests {

using namespace triad;
using namespace triad::cpu::attending;
using simd::lanes;

// The second head of one sequence, whose rows are not the first of the batch.
struct scene {
  std::vector<index_t> queries, keys, begin{2}, key_begin{0};
  attention_options options;
  attention_sequences s;
  index_t offsets;
  std::vector<float> m;  // (q rows, 2 (2 reach + 1)); the memory ends with the last row that is read

  scene(index_t q, index_t k, index_t reach) : queries{q}, keys{k}, offsets(relative_offsets(reach)) {
    options.heads = 2;
    options.reach = reach;
    s.queries = {1, q + 2, q, make_vec<index_t const>(queries.data(), 1), make_vec<index_t const>(begin.data(), 1)};
    s.keys = {1, k, k, make_vec<index_t const>(keys.data(), 1), make_vec<index_t const>(key_begin.data(), 1)};
    m = test::random_values<float>((q + 2) * 2 * offsets, 8);
  }
  head<float> at() const { return {options, s, 1, 8, queries[0], keys[0], begin[0], 0}; }
  std::size_t element(index_t i, index_t r) const {
    return static_cast<std::size_t>((i + 2) * 2 * offsets + offsets + r);
  }
};

std::size_t place(index_t q, index_t j) { return static_cast<std::size_t>(j / 4 * lanes + 4 * q + j % 4); }

TEST_CASE("each score gets the number of its offset, and each offset the sum of its scores") {
  for (index_t queries : {1, 2, 5, 8, 20})
    for (index_t keys : {1, 4, 7, 20, 33})
      for (index_t reach : {1, 2, 3, 8, 20, 40}) {
        scene z(queries, keys, reach);
        index_t const vectors = fours(keys), rows = queries + 2;
        std::vector<float> sums(z.m.size(), -7);
        for (index_t i = 0; i < queries; i += group) {
          CAPTURE(queries, keys, reach, i);
          auto before = test::random_values<float>(vectors * lanes, 9 + static_cast<std::uint64_t>(i));
          for (index_t q = 0; q < group; ++q)
            for (index_t j = keys; j < 4 * vectors; ++j) before[place(q, j)] = 0;
          auto x = before;
          add_offsets(z.at(), i, vectors, make_matrix<float const>(z.m.data(), rows, 2 * z.offsets, 2 * z.offsets),
                      x.data());
          sum_offsets(z.at(), i, vectors, before.data(), make_matrix(sums.data(), rows, 2 * z.offsets, 2 * z.offsets));
          for (index_t q = 0; q < std::min(group, queries - i); ++q) {
            std::vector<double> expected(static_cast<std::size_t>(z.offsets), 0);
            for (index_t j = 0; j < keys; ++j) {
              index_t const r = relative_offset(reach, queries, keys, i + q, j);
              REQUIRE(x[place(q, j)] == before[place(q, j)] + z.m[z.element(i + q, r)]);
              expected[static_cast<std::size_t>(r)] += static_cast<double>(before[place(q, j)]);
            }
            for (index_t r = 0; r < z.offsets; ++r)
              REQUIRE_THAT(static_cast<double>(sums[z.element(i + q, r)]),
                           test::WithinAbs(expected[static_cast<std::size_t>(r)], 3e-6));  // rounding of up to 33 terms
          }
        }
        for (index_t i = -2; i < queries; ++i)  // the other head, and the rows before, are not written
          for (index_t r = 0; r < z.offsets; ++r) {
            CHECK(sums[z.element(i, r - z.offsets)] == -7);
            if (i < 0) CHECK(sums[z.element(i, r)] == -7);
          }
      }
}

}  // namespace cpu_offsets_tests
