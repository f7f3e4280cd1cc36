// Tests the bias of attention scores by distance: the buckets are those of transformers, gradients equal finite
// differences, and attention adds the bias to its scores.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/distance_bias.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"

namespace ops_distance_bias_tests {

using namespace triad;

std::size_t size(index_t n) { return static_cast<std::size_t>(n); }

// The first distance of each bucket, from MPNetEncoder.relative_position_bucket of transformers 5.24.0.
TEST_CASE("the buckets are those of MPNet") {
  std::vector<std::pair<index_t, index_t>> const first{
      {-200, 15}, {-90, 14}, {-63, 13}, {-45, 12}, {-31, 11}, {-22, 10}, {-15, 9}, {-11, 8}, {-7, 7}, {-6, 6}, {-5, 5},
      {-4, 4},    {-3, 3},   {-2, 2},   {-1, 1},   {0, 0},    {1, 17},   {2, 18},  {3, 19},  {4, 20}, {5, 21}, {6, 22},
      {7, 23},    {8, 24},   {12, 25},  {16, 26},  {23, 27},  {32, 28},  {46, 29}, {64, 30}, {91, 31}};
  std::size_t next = 0;
  index_t bucket = -1;
  for (index_t ahead = -200; ahead <= 200; ++ahead) {
    if (next < first.size() && first[next].first == ahead) bucket = first[next++].second;
    CAPTURE(ahead);
    CHECK(distance_bucket(ahead) == bucket);
  }
  CHECK(distance_bucket(-distance_reach) == distance_bucket(-distance_reach - 1000000));
  CHECK(distance_bucket(distance_reach) != distance_bucket(distance_reach - 1));
  static_assert(distance_bucket(91) == 31 && distance_bucket(0) == 0);
}

TEMPLATE_TEST_CASE(
    "every row of the bias has the table's scaled number of each offset, and the gradient is the adjoint", "",
    TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  index_t const n = relative_offsets(distance_reach);
  for (index_t heads : {1, 3})
    for (index_t rows : {0, 1, 5}) {
      CAPTURE(heads, rows);
      auto const table = test::random_values<T>(distance_buckets * heads, 1);
      std::vector<T> bias(size(rows * heads * n), T(7));
      distance_bias(ex, T(3), make_matrix<T const>(table.data(), distance_buckets, heads, heads),
                    make_matrix(bias.data(), rows, heads * n, heads * n));
      for (index_t i = 0; i < rows; ++i)
        for (index_t c = 0; c < heads; ++c)
          for (index_t r = 0; r < n; ++r)
            CHECK(bias[size((i * heads + c) * n + r)] ==
                  T(3) * table[size(distance_bucket(r - distance_reach) * heads + c)]);
      auto const d_sum = test::random_values<T>(heads * n, 2);
      std::vector<T> d_table(table.size(), T(1));
      distance_bias_grad(ex, T(3), make_vec<T const>(d_sum.data(), heads * n),
                         make_matrix(d_table.data(), distance_buckets, heads, heads));
      std::vector<double> expected(table.size(), 1);
      for (index_t c = 0; c < heads; ++c)
        for (index_t r = 0; r < n; ++r)
          expected[size(distance_bucket(r - distance_reach) * heads + c)] +=
              3 * static_cast<double>(d_sum[size(c * n + r)]);
      for (std::size_t k = 0; k < expected.size(); ++k)
        CHECK_THAT(static_cast<double>(d_table[k]),
                   test::WithinAbs(expected[k], std::is_same_v<T, float> ? 1e-4 : 1e-12));
    }
}

// ---- attention with a bias ------------------------------------------------------------------------------------------

/// Ragged sequences, one of them longer than the reach of the bias, as self-attention reads them.
struct problem {
  static constexpr index_t heads = 2, k = 3, d = heads * k, n = 2 * distance_reach + 1;
  test::ragged lengths{{5, 0, 100, 1}};
  sequence_batch sequences = nodes_of(lengths.batch());
  index_t rows = sequences.rows;
  std::vector<double> q = test::random_values<double>(rows * d, 1), key = test::random_values<double>(rows * d, 2),
                      v = test::random_values<double>(rows * d, 3), dc = test::random_values<double>(rows * d, 4),
                      table = test::random_values<double>(distance_buckets * heads, 5);

  attention_options options() const {
    attention_options o;
    o.heads = heads;
    o.reach = distance_reach;
    return o;
  }
  template <class V>
  static auto matrix_of(V& values, index_t columns) {
    return make_matrix(values.data(), static_cast<index_t>(values.size()) / columns, columns, columns);
  }
  static double scale() { return std::sqrt(double{k}); }

  /// Returns the sum of dc times the context, and the gradients, if they are given.
  template <class Ex>
  double run(Ex& ex, std::vector<std::vector<double>>* gradients = nullptr) const {
    std::vector<double> bias(size(rows * heads * n)), lse(size(heads * rows)), c(q.size());
    attention_sequences const both{sequences, sequences};
    attention_operands<double const> const x{matrix_of(q, d), matrix_of(key, d), matrix_of(v, d)};
    auto const bias_of = make_matrix<double const>(bias.data(), rows, heads * n, heads * n);
    test::with_scratch(ex, call{}, [&](auto& any, call const& now) {
      distance_bias(any, scale(), matrix_of(table, heads), matrix_of(bias, heads * n));
      attention(any, *now.scratch, options(), both, x, bias_of, make_vec(lse.data(), heads * rows), matrix_of(c, d));
      if (!gradients) return;
      auto& g = *gradients;
      g = {q, key, v, table};
      std::fill(g[3].begin(), g[3].end(), 0);
      auto const sums = now.scratch->template make<vec<double>>(heads * n);
      fill(any, 0.0, sums);
      attention_grad(any, *now.scratch, options(), both, x, bias_of, make_vec<double const>(lse.data(), heads * rows),
                     matrix_of(std::as_const(c), d), matrix_of(dc, d),
                     attention_operands<double>{matrix_of(g[0], d), matrix_of(g[1], d), matrix_of(g[2], d)}, sums);
      distance_bias_grad(any, scale(), vec<double const>(sums), matrix_of(g[3], heads));
    });
    double sum = 0;
    for (std::size_t i = 0; i < c.size(); ++i) sum += c[i] * dc[i];
    return sum;
  }

  /// The same sum in plain loops.
  double expected() const {
    double sum = 0;
    index_t begin = 0;
    for (index_t const length : {index_t{5}, index_t{0}, index_t{100}, index_t{1}}) {
      for (index_t h = 0; h < heads; ++h)
        for (index_t i = begin; i < begin + length; ++i) {
          double total = 0, mixed = 0;
          for (index_t j = begin; j < begin + length; ++j) {
            double score = 0, value = 0;
            for (index_t f = h * k; f < (h + 1) * k; ++f) {
              score += q[size(i * d + f)] * key[size(j * d + f)];
              value += dc[size(i * d + f)] * v[size(j * d + f)];
            }
            double const p = std::exp(score / scale() + table[size(distance_bucket(j - i) * heads + h)]);
            total += p;
            mixed += p * value;
          }
          sum += mixed / total;
        }
      begin += length;
    }
    return sum;
  }
};

TEMPLATE_TEST_CASE("attention adds the table's number for the distance to each score", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem const p;
  CHECK_THAT(p.run(ex), test::WithinAbs(p.expected(), 1e-11));
}

TEMPLATE_TEST_CASE("the gradients of attention with a bias are finite differences, of the table too", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem p;
  std::vector<std::vector<double>> g;
  p.run(ex, &g);
  std::vector<double>* const values[] = {&p.q, &p.key, &p.v, &p.table};
  for (std::size_t part = 0; part < 4; ++part)
    for (std::size_t i = 0; i < values[part]->size(); i += part == 3 ? 1 : 37) {
      CAPTURE(part, i);
      double& x = (*values[part])[i];
      double const at = x, step = 1e-5;
      x = at + step;
      double const above = p.expected();
      x = at - step;
      double const below = p.expected();
      x = at;
      CHECK_THAT(g[part][i], test::WithinAbs((above - below) / (2 * step), 1e-7));
    }
}

TEST_CASE("a bias needs a table of 32 buckets, a reach and rows of its own") {
  reference::backend ex;
  std::vector<double> t(62), b(366);
  auto const matrix = [](std::vector<double>& v, index_t columns) {
    return make_matrix(v.data(), static_cast<index_t>(v.size()) / columns, columns, columns);
  };
  CHECK_THROWS_WITH(distance_bias(ex, 1.0, as_matrix(make_matrix<double const>(t.data(), 31, 2, 2)), matrix(b, 366)),
                    test::contains("31 rows of table, expected 32"));
  t.resize(64);
  CHECK_THROWS_WITH(distance_bias(ex, 1.0, make_matrix<double const>(t.data(), 32, 2, 2), matrix(b, 183)),
                    test::contains("183 columns of bias, expected 366"));
  CHECK_THROWS_WITH(distance_bias_grad(ex, 1.0, make_vec<double const>(b.data(), 183), matrix(t, 2)),
                    test::contains("183 d_sum, expected 366"));
  problem const p;
  std::vector<double> lse(size(p.heads * p.rows)), c(p.q.size());
  attention_operands<double const> const x{p.matrix_of(p.q, p.d), p.matrix_of(p.key, p.d), p.matrix_of(p.v, p.d)};
  arena none;
  auto options = p.options();
  auto const go = [&](index_t rows) {
    std::vector<double> bias(size(rows * p.heads * p.n));
    attention(ex, none, options, attention_sequences{p.sequences, p.sequences}, x,
              make_matrix<double const>(bias.data(), rows, p.heads * p.n, p.heads * p.n),
              make_vec(lse.data(), p.heads * p.rows), p.matrix_of(c, p.d));
  };
  CHECK_THROWS_WITH(go(1), test::contains("attention: bias is (1, 366), expected (106, 366)"));
  options.reach = 0;
  CHECK_THROWS_WITH(go(106), test::contains("reach is 0, expected 1 or more with a bias of scores"));
}

}  // namespace ops_distance_bias_tests
