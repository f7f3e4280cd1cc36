// Tests the parts of a small head's softmax: lanes of a query, logarithms, masks and dropout. small_head.cpp compares
// whole heads with the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/attention/quad_softmax.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace cpu_quad_softmax_tests {

using namespace triad;
using namespace triad::cpu::attending;
using simd::lanes;

TEST_CASE("the logarithm of a sum of exponentials has a float's digits and keeps a NaN") {
  for (int i = 0; i <= 3000; ++i) {
    float const x = std::exp2(static_cast<float>(i) / 120);
    double const exact = std::log(static_cast<double>(x));
    REQUIRE_THAT(static_cast<double>(log_from_one(simd::broadcast(x))[0]),
                 test::WithinAbs(exact, 1.5e-7 * std::max(1.0, exact)));
  }
  CHECK(log_from_one(simd::broadcast(1))[0] == 0);
  CHECK(std::isnan(log_from_one(simd::broadcast(std::numeric_limits<float>::quiet_NaN()))[0]));
}

TEST_CASE("the four lanes of a query are combined, and the numbers of queries reach their four lanes") {
  simd::floats v;
  for (int l = 0; l < lanes; ++l) v[l] = static_cast<float>(l * l);
  auto const sum = across_keys(v, [](auto a, auto b) { return a + b; });
  std::vector<float> const of{3, 5, 7, 9};
  auto const spread = of_queries(of.data());
  for (int l = 0; l < lanes; ++l) {
    int const q = l / 4 * 4;
    CHECK(sum[l] == static_cast<float>(q * q + (q + 1) * (q + 1) + (q + 2) * (q + 2) + (q + 3) * (q + 3)));
    CHECK(spread[l] == of[static_cast<std::size_t>(l / 4)]);
  }
}

// One head of one sequence with its options.
struct scene {
  std::vector<index_t> queries, keys, begin{2}, key_begin{1};
  std::vector<std::uint8_t> masked;
  std::uint64_t step = 9;
  attention_options options;
  attention_sequences s;

  scene(index_t q, index_t k, bool causal, bool some_masked, double rate) : queries{q}, keys{k} {
    options.causal = causal;
    options.dropout = {rate, 17, 5, &step};
    if (some_masked)
      for (index_t j = 0; j < k + 1; ++j) masked.push_back(j % 3 == 1);
    options.masked = make_vec<std::uint8_t const>(masked.data(), static_cast<index_t>(masked.size()));
    s.queries = {1, q + 2, q, make_vec<index_t const>(queries.data(), 1), make_vec<index_t const>(begin.data(), 1)};
    s.keys = {1, k + 1, k + 3, make_vec<index_t const>(keys.data(), 1), make_vec<index_t const>(key_begin.data(), 1)};
  }
  head<float> at() const { return {options, s, 0, 8, queries[0], keys[0], begin[0], key_begin[0]}; }
};

TEST_CASE("the scores of keys that a query may not attend to are masked, and no others") {
  for (bool causal : {false, true})
    for (bool masked : {false, true})
      for (index_t queries : {1, 5, 12})
        for (index_t keys : {1, 4, 7, 12, 30}) {
          scene const z(queries, keys, causal, masked, 0);
          index_t const count = fours(keys);
          for (index_t i = 0; i < queries; i += group) {
            CAPTURE(causal, masked, queries, keys, i);
            std::vector<float> x(static_cast<std::size_t>(count * lanes), 1);
            mask_group(z.at(), i, count, x.data());
            for (index_t q = i; q < std::min(i + group, queries); ++q)
              for (index_t j = 0; j < 4 * count; ++j) {
                bool const open = j < keys_before(causal, queries, keys, q) && j < keys &&
                                  (!masked || z.masked[static_cast<std::size_t>(j + 1)] == 0);
                CAPTURE(q, j);
                REQUIRE(x[static_cast<std::size_t>(j / 4 * lanes + (q - i) * 4 + j % 4)] ==
                        (open ? 1 : below_all<float>));
              }
          }
        }
}

TEST_CASE("dropout keeps the weights that attention_weight() numbers") {
  for (index_t keys : {1, 5, 31, 33, 64, 65, 100}) {
    scene const z(9, keys, false, false, 0.4);
    cpu::keep_source const source(z.options.dropout);
    keep_bits bits(source);
    auto const at = z.at();
    for (index_t i = 0; i < 9; i += group) {
      std::vector<float> factor(static_cast<std::size_t>(fours(keys) * lanes), -1);
      each_kept(at, i, fours(keys), simd::broadcast(2), bits,
                [&](index_t x, simd::floats kept) { simd::store(factor.data() + x, kept); });
      for (index_t q = i; q < std::min<index_t>(i + group, 9); ++q)
        for (index_t j = 0; j < keys; ++j) {
          CAPTURE(keys, q, j);
          bool const kept =
              z.options.dropout.keeps(static_cast<std::uint64_t>(attention_weight(z.s, 0, at.first_query + q, j)));
          REQUIRE(factor[static_cast<std::size_t>(j / 4 * lanes + (q - i) * 4 + j % 4)] == (kept ? 2 : 0));
        }
    }
  }
}

}  // namespace cpu_quad_softmax_tests
