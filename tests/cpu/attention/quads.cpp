// Tests the scores of small heads: their values and places. Other queries and keys must not change their bits.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/attention/quads.hpp"

#include <limits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace cpu_quads_tests {

using namespace triad;
using namespace triad::cpu::attending;
using simd::lanes;

// The product of two random floats in [-1, 1], summed over up to 70 channels in another order than in double.
constexpr double rounding = 1e-5;

float const* row_of(std::vector<float> const& x, index_t r, index_t stride) { return x.data() + r * stride; }

// Computes all scores of `queries` queries and `keys` keys. Returns them by rows of queries.
std::vector<float> scores_of(std::vector<float> const& q, index_t queries, std::vector<float> const& k, index_t keys,
                             index_t width, index_t stride) {
  index_t const across = simd::padded(width), jump = fours(keys) * lanes;
  auto const room = [](index_t n) {
    return std::vector<float>(static_cast<std::size_t>(n), std::numeric_limits<float>::quiet_NaN());
  };
  auto query_copy = room(queries * across), key_copy = room(keys * across), panel = room(most_groups * lanes * across),
       tile = room(groups(queries) * jump), result = room(queries * keys);
  auto const query = in_whole_vectors({q.data(), stride}, queries, width, query_copy.data()),
             key = in_whole_vectors({k.data(), stride}, keys, width, key_copy.data());
  each_run(groups(queries), [&]<int G>(index_t first, std::integral_constant<int, G>) {
    gather_panel<G>(query.from(first * group), std::min(G * group, queries - first * group), width, panel.data());
    multiply_groups<G>(panel.data(), width, key, keys, tile.data() + first * jump, jump);
  });
  for (index_t i = 0; i < queries; ++i)
    for (index_t j = 0; j < keys; ++j)
      result[static_cast<std::size_t>(i * keys + j)] =
          tile[static_cast<std::size_t>(i / group * jump + j / 4 * lanes + i % group * 4 + j % 4)];
  return result;
}

TEST_CASE("scores are the dot products of queries and keys, for all widths and numbers of rows") {
  for (index_t width : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 70})
    for (index_t queries : {1, 2, 4, 5, 9, 20, 37})
      for (index_t keys : {1, 3, 4, 6, 21}) {
        CAPTURE(width, queries, keys);
        index_t const stride = width + 3;
        // The vectors end with the last row, so a sanitizer reports a read beyond it.
        auto q = test::random_values<float>(queries * stride - 3, 1),
             k = test::random_values<float>(keys * stride - 3, 2);
        for (index_t r = 0; r + 1 < queries; ++r)  // what lies between the rows must not be used
          for (index_t c = width; c < stride; ++c)
            q[static_cast<std::size_t>(r * stride + c)] = std::numeric_limits<float>::quiet_NaN();
        for (index_t r = 0; r + 1 < keys; ++r)
          for (index_t c = width; c < stride; ++c)
            k[static_cast<std::size_t>(r * stride + c)] = std::numeric_limits<float>::quiet_NaN();
        auto const found = scores_of(q, queries, k, keys, width, stride);
        for (index_t i = 0; i < queries; ++i)
          for (index_t j = 0; j < keys; ++j) {
            double expected = 0;
            for (index_t c = 0; c < width; ++c)
              expected += static_cast<double>(row_of(q, i, stride)[c]) * static_cast<double>(row_of(k, j, stride)[c]);
            REQUIRE_THAT(static_cast<double>(found[static_cast<std::size_t>(i * keys + j)]),
                         test::WithinAbs(expected, rounding));
          }
      }
}

TEST_CASE("a score has the same bits, whatever queries and keys are computed next to it") {
  index_t const width = 33, queries = 41, keys = 23;
  auto const q = test::random_values<float>(queries * width, 3), k = test::random_values<float>(keys * width, 4);
  auto const all = scores_of(q, queries, k, keys, width, width);
  for (index_t i : {0, 1, 6, 20, 40})
    for (index_t j : {0, 2, 7, 22}) {
      std::vector<float> const one(row_of(q, i, width), row_of(q, i + 1, width)),
          other(row_of(k, j, width), row_of(k, j + 1, width));
      CHECK(scores_of(one, 1, other, 1, width, width)[0] == all[static_cast<std::size_t>(i * keys + j)]);
    }
}

TEST_CASE("runs are all groups in order, and none is larger than a run may be") {
  for (index_t count = 0; count < 40; ++count) {
    index_t next = 0;
    each_run(count, [&]<int G>(index_t first, std::integral_constant<int, G>) {
      CHECK(first == next);
      CHECK(G <= most_groups);
      next += G;
    });
    CHECK(next == count);
  }
}

TEST_CASE("rows of whole vectors stay where they are, and others are copied with zeros after them") {
  auto const x = test::random_values<float>(3 * 2 * lanes, 5);
  std::vector<float> copy(static_cast<std::size_t>(3 * 2 * lanes), -1);
  CHECK(in_whole_vectors({x.data(), 2 * lanes}, 3, lanes, copy.data()).data == x.data());
  auto const rows = in_whole_vectors({x.data(), 2 * lanes}, 3, lanes + 1, copy.data());
  for (index_t r = 0; r < 3; ++r)
    for (index_t c = 0; c < 2 * lanes; ++c) CHECK(rows[r][c] == (c <= lanes ? row_of(x, r, 2 * lanes)[c] : 0));
}

}  // namespace cpu_quads_tests
