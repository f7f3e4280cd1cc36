// Tests attention of small heads on the cpu: every length from 1 to 64 against the reference, with all masks, dropout
// and relative positions; and that a sequence has the same bits alone and in every batch.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/attention/small_head.hpp"

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/attention.hpp"

namespace cpu_small_head_tests {

using namespace triad;

constexpr float gap = 12345;

struct sentence {
  index_t queries, keys;
  std::uint64_t content;  // numbers the random values
};
struct setting {
  index_t width = 16, heads = 2;
  bool causal = false, masked = false;
  double rate = 0;
  index_t reach = 0;
};

std::ostream& operator<<(std::ostream& out, setting const& s) {
  return out << "k = " << s.width << ", h = " << s.heads << (s.causal ? ", causal" : "") << (s.masked ? ", masked" : "")
             << ", dropout " << s.rate << ", reach " << s.reach;
}

// A batch in memory, in which the rows of every operand are further apart than they are long. The numbers of a sentence
// depend on its content alone. `bias` and the others of relative positions are inputs here, as for a kernel.
template <class T>
struct batch {
  setting with;
  std::vector<sentence> sentences;
  std::vector<index_t> queries, keys, first_query, first_key;
  sequence_batch of_queries, of_keys;
  index_t d, wide, stride;
  attention_options options;
  std::vector<std::uint8_t> masked;
  std::vector<T> q, k, v, dc, bias, d_by_offset;
  std::vector<T> c, lse, by_offset, dq, dk, dv, d_bias;
  std::uint64_t step = 6;

  // Each sentence is followed by `room` rows that belong to no sentence.
  batch(setting const& s, std::vector<sentence> const& list, index_t room = 0, index_t longer = 0)
      : with(s), sentences(list), d(s.width * s.heads), wide(s.heads * relative_offsets(s.reach)), stride(d + 5) {
    options.heads = s.heads;
    options.causal = s.causal;
    options.reach = s.reach;
    options.dropout = {s.rate, 99, 3, &step};
    for (auto const& x : list) {
      queries.push_back(x.queries);
      keys.push_back(x.keys);
      first_query.push_back(of_queries.rows);
      first_key.push_back(of_keys.rows);
      of_queries.rows += x.queries + room;
      of_keys.rows += x.keys + room;
      of_queries.longest = std::max(of_queries.longest, x.queries);
      of_keys.longest = std::max(of_keys.longest, x.keys + longer);
      ++of_queries.count, ++of_keys.count;
    }
    auto const view = [&](std::vector<index_t> const& n) { return make_vec<index_t const>(n.data(), of_keys.count); };
    of_queries.size = view(queries), of_queries.begin = view(first_query);
    of_keys.size = view(keys), of_keys.begin = view(first_key);
    auto const room_of = [](index_t rows, index_t columns) {
      return std::vector<T>(static_cast<std::size_t>(rows * columns), T(gap));
    };
    for (auto* x : {&q, &dc, &c, &dq}) *x = room_of(of_queries.rows, stride);
    for (auto* x : {&k, &v, &dk, &dv}) *x = room_of(of_keys.rows, stride);
    for (auto* x : {&bias, &d_by_offset, &by_offset, &d_bias}) *x = room_of(of_queries.rows, wide);
    lse = room_of(of_queries.rows, s.heads);
    masked.assign(s.masked ? static_cast<std::size_t>(of_keys.rows) : 0, 1);
    options.masked = make_vec<std::uint8_t const>(masked.data(), static_cast<index_t>(masked.size()));
    for (std::size_t b = 0; b < list.size(); ++b) {
      auto const fill = [&](std::vector<T>& to, index_t first, index_t rows, index_t columns, index_t across,
                            std::uint64_t stream) {
        auto const some = test::random_values<T>(rows * columns, 10 * list[b].content + stream, 1.5);
        for (index_t i = 0; i < rows * columns; ++i)
          to[static_cast<std::size_t>((first + i / columns) * across + i % columns)] =
              some[static_cast<std::size_t>(i)];
      };
      fill(q, first_query[b], queries[b], d, stride, 1);
      fill(k, first_key[b], keys[b], d, stride, 2);
      fill(v, first_key[b], keys[b], d, stride, 3);
      fill(dc, first_query[b], queries[b], d, stride, 4);
      fill(bias, first_query[b], queries[b], wide, wide, 5);
      fill(d_by_offset, first_query[b], queries[b], wide, wide, 6);
      if (s.masked)
        for (index_t j = 0; j < keys[b]; ++j) masked[static_cast<std::size_t>(first_key[b] + j)] = j % 4 == 2;
    }
  }
  batch(batch const&) = delete;

  template <class Ex>
  void run(Ex&& ex) {
    attention_sequences const s{of_queries, of_keys};
    auto const rows = [&](auto& x, index_t across, index_t columns) {
      return make_matrix(x.data(), static_cast<index_t>(x.size()) / across, columns, across);
    };
    auto const in = [&](std::vector<T> const& x) { return rows(x, stride, d); };
    auto const sums = make_vec(lse.data(), static_cast<index_t>(lse.size()));
    bool const relative = options.reach > 0;
    test::with_scratch(ex, {}, [&](auto& on, call const& use) {
      attention_operands<T const> const x{in(q), in(k), in(v)};
      relative_forward<T> forward;
      relative_backward<T> backward;
      std::vector<T> const& own_bias = bias;
      std::vector<T> const& own_d = d_by_offset;
      if (relative) {
        forward = {rows(own_bias, wide, wide), rows(by_offset, wide, wide)};
        backward = {rows(own_bias, wide, wide), rows(own_d, wide, wide), rows(d_bias, wide, wide)};
      }
      triad::detail::run_attention(on, *use.scratch, options, s, x, forward, sums, rows(c, stride, d));
      triad::detail::run_attention_grad(on, *use.scratch, options, s, x, backward, vec<T const>(sums), in(c), in(dc),
                                        {rows(dq, stride, d), rows(dk, stride, d), rows(dv, stride, d)});
    });
  }

  // The results of one sentence, one after another.
  std::vector<T> results_of(std::size_t b) const {
    std::vector<T> all;
    auto const take = [&](std::vector<T> const& x, index_t first, index_t rows, index_t across) {
      all.insert(all.end(), x.begin() + first * across, x.begin() + (first + rows) * across);
    };
    for (auto const* x : {&c, &dq}) take(*x, first_query[b], queries[b], stride);
    for (auto const* x : {&dk, &dv}) take(*x, first_key[b], keys[b], stride);
    for (auto const* x : {&by_offset, &d_bias}) take(*x, first_query[b], queries[b], wide);
    for (index_t h = 0; h < with.heads; ++h) take(lse, h * of_queries.rows + first_query[b], queries[b], 1);
    return all;
  }
};

// The tolerance allows for rounding in sums of some dozen products of numbers up to 1.5. A gradient may be exactly 0
// in the reference, so errors are not divided by the result.
constexpr double tolerance = 3e-5;

// Returns the largest error. The error is infinite if only one of two numbers was written.
double error(std::vector<float> const& found, std::vector<double> const& exact) {
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    auto const x = static_cast<double>(found[i]);
    bool const same_writes = (found[i] == gap) == (exact[i] == static_cast<double>(gap));
    if (x != exact[i]) largest = test::worse(largest, std::abs(x - exact[i]));  // both may be infinite
    if (!same_writes) largest = test::worse(largest, std::numeric_limits<double>::infinity());
  }
  return largest;
}

void expect_reference(setting const& s, std::vector<sentence> const& list) {
  INFO(s);
  CAPTURE(list[0].queries, list[0].keys);
  batch<double> exact(s, list, 1);
  batch<float> found(s, list, 1);
  exact.run(reference::backend());
  found.run(cpu::backend(2));
  CHECK(error(found.c, exact.c) < tolerance);
  CHECK(error(found.lse, exact.lse) < tolerance);
  CHECK(error(found.by_offset, exact.by_offset) < tolerance);
  CHECK(error(found.dq, exact.dq) < tolerance);
  CHECK(error(found.dk, exact.dk) < tolerance);
  CHECK(error(found.dv, exact.dv) < tolerance);
  CHECK(error(found.d_bias, exact.d_bias) < tolerance);
}

TEST_CASE("attention of every length from 1 to 64 is the reference's") {
  for (index_t n = 1; n <= 64; ++n) {
    auto const content = static_cast<std::uint64_t>(n);
    expect_reference({.width = 16, .causal = n % 2 == 0, .masked = n % 3 == 0, .rate = n % 5 == 0 ? 0.3 : 0},
                     {{n, n, content}});
    // More keys than queries, and fewer; the reach is shorter or longer than the sentence.
    expect_reference({.width = 12, .heads = 1, .causal = n % 3 == 0, .rate = n % 2 == 0 ? 0.2 : 0, .reach = 1 + n % 9},
                     {{n, n + 1 + n % 7, content}, {n, n / 2, content + 100}});
  }
}

TEST_CASE("attention of every head width from 1 to 70 is the reference's, with all masks and dropout") {
  for (index_t width = 1; width <= 70; ++width)
    for (bool causal : {false, true}) {
      expect_reference({.width = width, .causal = causal, .masked = width % 2 == 0, .rate = 0.3}, {{21, 21, 1}});
      expect_reference({.width = width, .causal = causal, .reach = width % 2 == 0 ? 2 : 30}, {{7, 9, 2}, {0, 3, 3}});
    }
  for (index_t width : {96, 100, 128}) expect_reference({.width = width}, {{20, 20, 4}});
}

TEST_CASE("attention of one query after another, of many keys and of many queries is the reference's") {
  for (bool causal : {false, true}) {
    expect_reference({.width = 32, .causal = causal, .reach = 3}, {{1, 50, 1}, {1, 3, 2}});
    expect_reference({.width = 32, .causal = causal, .rate = 0.1}, {{150, 128, 3}, {128, 128, 4}});
    expect_reference({.width = 16, .causal = causal}, {{70, 40, 5}, {130, 257, 6}});
    for (index_t width : {1, 7, 16, 50, 64, 256})
      expect_reference({.width = width, .heads = 1, .causal = causal, .masked = true, .rate = 0.2, .reach = 2},
                       {{1, 37, 7}, {1, 256, 8}, {1, 0, 9}});
  }
}

TEST_CASE("a sentence has the same bits alone, in any batch, in any order, and if longer sentences are expected") {
  std::vector<sentence> const all{{20, 20, 1}, {5, 5, 2}, {64, 64, 3}, {1, 30, 4},  {13, 13, 5},
                                  {20, 20, 6}, {3, 9, 7}, {8, 8, 8},   {33, 31, 9}, {70, 260, 10}};
  std::vector<sentence> reversed(all.rbegin(), all.rend());
  for (index_t width : {16, 25, 32, 64})
    for (bool causal : {false, true})
      for (index_t reach : {0, 4}) {
        setting const s{.width = width, .heads = 3, .causal = causal, .masked = width == 25, .reach = reach};
        INFO(s);
        batch<float> together(s, all), backwards(s, reversed, 2), longer(s, all, 0, 77), three(s, all);
        together.run(cpu::backend(1));
        backwards.run(cpu::backend(2));
        longer.run(cpu::backend(2));
        three.run(cpu::backend(3));
        for (std::size_t b = 0; b < all.size(); ++b) {
          CAPTURE(b);
          batch<float> alone(s, {all[b]});
          alone.run(cpu::backend(1));
          auto const expected = alone.results_of(0);
          CHECK(together.results_of(b) == expected);
          CHECK(backwards.results_of(all.size() - 1 - b) == expected);
          CHECK(longer.results_of(b) == expected);
          CHECK(three.results_of(b) == expected);
        }
      }
}

TEST_CASE("a query whose keys are all masked has no weights, and its context and gradients are zero") {
  setting const s{.width = 8, .masked = true, .reach = 2};
  batch<float> p(s, {{6, 6, 1}, {5, 7, 2}});
  std::fill(p.masked.begin(), p.masked.begin() + 6, std::uint8_t{1});
  p.run(cpu::backend(1));
  auto const zero = [&](std::vector<float> const& x, index_t across, index_t columns) {
    for (index_t r = 0; r < 6; ++r)
      for (index_t c = 0; c < columns; ++c) CHECK(x[static_cast<std::size_t>(r * across + c)] == 0);
  };
  for (auto const* x : {&p.c, &p.dq, &p.dk, &p.dv}) zero(*x, p.stride, p.d);
  for (auto const* x : {&p.by_offset, &p.d_bias}) zero(*x, p.wide, p.wide);
  for (index_t h = 0; h < s.heads; ++h)
    for (index_t i = 0; i < 6; ++i)
      CHECK(p.lse[static_cast<std::size_t>(h * p.of_queries.rows + i)] == -std::numeric_limits<float>::infinity());
  for (std::size_t i = 6 * static_cast<std::size_t>(p.stride); i < p.c.size(); ++i) CHECK(std::isfinite(p.c[i]));
}

TEST_CASE("a NaN in an operand and a score of infinity reach the rows that depend on them, and no other head") {
  setting const s{.width = 16};
  auto const is_lost = [&](batch<float>& p, bool whole_head) {
    p.run(cpu::backend(1));
    bool lost = false;
    for (index_t i = 0; i < 20; ++i) {
      lost = lost || (whole_head || i == 3 ? !std::isnan(p.c[static_cast<std::size_t>(i * p.stride + 16 + 7)]) : false);
      CHECK(std::isfinite(p.c[static_cast<std::size_t>(i * p.stride)]));
    }
    return lost;
  };
  auto const place = static_cast<std::size_t>(16 + 7);
  float const bad = std::numeric_limits<float>::quiet_NaN(), huge = 3e38f;
  for (int operand = 0; operand < 4; ++operand) {
    CAPTURE(operand);
    batch<float> p(s, {{20, 20, 1}});
    auto const row = [&](index_t r) { return static_cast<std::size_t>(r * p.stride) + place; };
    if (operand == 0) p.q[row(3)] = bad;
    if (operand == 1) p.k[row(9)] = bad;
    if (operand == 2) p.v[row(9)] = bad;
    if (operand == 3) p.q[row(3)] = huge, p.k[row(9)] = huge;
    CHECK(!is_lost(p, operand == 1 || operand == 2));
    if (operand == 3) continue;
    for (auto const* x : {&p.dq, &p.dk})  // through delta, or through the weights
      CHECK(std::isnan((*x)[row(3)]));
  }
  batch<float> p(s, {{20, 20, 1}});
  p.dc[static_cast<std::size_t>(3 * p.stride) + place] = bad;
  p.run(cpu::backend(1));
  CHECK(std::isnan(p.dq[static_cast<std::size_t>(3 * p.stride) + place]));
  for (index_t j = 0; j < 20; ++j) {
    CHECK(std::isnan(p.dk[static_cast<std::size_t>(j * p.stride) + place]));
    CHECK(std::isnan(p.dv[static_cast<std::size_t>(j * p.stride) + place]));
  }
}

}  // namespace cpu_small_head_tests
