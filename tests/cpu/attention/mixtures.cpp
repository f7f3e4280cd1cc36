// Tests weighted sums of rows for all sizes of tiles: their values, their bits, and what is not written.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/attention/mixtures.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace cpu_mixtures_tests {

using namespace triad;
using namespace triad::cpu::attending;
using simd::lanes;

// Sums of up to 21 products of floats in [-1, 1], rounded once for each product.
constexpr double rounding = 5e-6;
constexpr float gap = 12345;

struct problem {
  index_t queries, keys, width, jump, across = simd::padded(width), stride = width + 1;
  std::vector<float> w = test::random_values<float>(groups(queries) * jump, 6);
  std::vector<float> b = test::random_values<float>(std::max(queries, keys) * across, 7);

  problem(index_t q, index_t k, index_t d) : queries(q), keys(k), width(d), jump(fours(k) * lanes) {}

  float weight(index_t i, index_t j) const {
    return w[static_cast<std::size_t>(i / group * jump + j / 4 * lanes + i % group * 4 + j % 4)];
  }
  template <mixed M>
  std::vector<float> mix_all(index_t first, bool add) const {
    index_t const rows = M == mixed::of_queries ? queries : keys,
                  terms_of_all = M == mixed::of_queries ? keys : queries;
    std::vector<float> y(static_cast<std::size_t>(rows * stride), add ? 0.5f : gap);
    mix<M>(
        w.data(), jump, rows, [&](index_t, index_t) { return terms{first, terms_of_all - first}; }, {b.data(), across},
        width, {y.data(), stride}, add);
    return y;
  }
};

template <mixed M>
void expect_sums(problem const& p, index_t first, bool add) {
  CAPTURE(p.queries, p.keys, p.width, first, add);
  bool const to_queries = M == mixed::of_queries;
  auto const y = p.template mix_all<M>(first, add);
  for (index_t r = 0; r < (to_queries ? p.queries : p.keys); ++r) {
    for (index_t c = 0; c < p.width; ++c) {
      double expected = add ? 0.5 : 0;
      for (index_t s = first; s < (to_queries ? p.keys : p.queries); ++s)
        expected += static_cast<double>(to_queries ? p.weight(r, s) : p.weight(s, r)) *
                    static_cast<double>(p.b[static_cast<std::size_t>(s * p.across + c)]);
      REQUIRE_THAT(static_cast<double>(y[static_cast<std::size_t>(r * p.stride + c)]),
                   test::WithinAbs(expected, rounding));
    }
    REQUIRE(y[static_cast<std::size_t>(r * p.stride + p.width)] == (add ? 0.5f : gap));
  }
}

TEST_CASE("mixtures are the weighted sums of rows, for all numbers of rows, terms and columns") {
  for (index_t width : {1, 4, 15, 16, 17, 32, 40, 64, 70, 80})
    for (index_t queries : {1, 2, 3, 4, 6, 8, 11, 20})
      for (index_t keys : {1, 3, 5, 8, 15, 21}) {
        problem const p(queries, keys, width);
        expect_sums<mixed::of_queries>(p, 0, queries % 2 == 0);
        expect_sums<mixed::of_keys>(p, 0, keys % 2 == 0);
      }
}

TEST_CASE("a mixture of keys may begin with the queries of a later group") {
  problem const p(4 * group + 1, 9, 20);
  for (index_t g = 0; g <= 4; ++g) expect_sums<mixed::of_keys>(p, g * group, false);
}

TEST_CASE("a row of a mixture has the same bits in a tile of any size") {
  problem const p(23, 22, 4 * lanes + 3);
  auto const queries = p.mix_all<mixed::of_queries>(0, false), keys = p.mix_all<mixed::of_keys>(0, false);
  for (index_t rows = 1; rows < 22; ++rows) {
    std::vector<float> of_queries(static_cast<std::size_t>(rows * p.stride), gap), of_keys(of_queries);
    mix<mixed::of_queries>(
        p.w.data(), p.jump, rows, [&](index_t, index_t) { return terms{0, p.keys}; }, {p.b.data(), p.across}, p.width,
        {of_queries.data(), p.stride}, false);
    mix<mixed::of_keys>(
        p.w.data(), p.jump, rows, [&](index_t, index_t) { return terms{0, p.queries}; }, {p.b.data(), p.across},
        p.width, {of_keys.data(), p.stride}, false);
    CHECK(std::equal(of_queries.begin(), of_queries.end(), queries.begin()));
    CHECK(std::equal(of_keys.begin(), of_keys.end(), keys.begin()));
  }
}

}  // namespace cpu_mixtures_tests
