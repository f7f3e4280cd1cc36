// Tests how a product is cut for an engine: every storage of the operands, rounding, long sums, the epilogue, and the
// same bits for any number of threads and rows.
// SPDX-License-Identifier: Apache-2.0
#include "triad/cpu/products/blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cpu/products/loop_engine.hpp"
#include "triad/cpu/layer_norm.hpp"
#include "triad/cpu/matmul.hpp"
#include "triad/reference/matmul.hpp"
#include "triad/reference/matmul_norm.hpp"

namespace cpu_blocks_tests {

using namespace triad;
using triad::test::loop_engine;
using enum cpu::arithmetic;

std::vector<float> random_floats(index_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> all(static_cast<std::size_t>(count));
  for (auto& x : all) x = value(generator);
  return all;
}

/// A matrix in rows or in columns, with `gap` elements between them.
struct stored {
  index_t rows, columns, gap;
  bool by_rows;
  std::vector<float> data;

  stored(index_t m, index_t n, bool rows_first, index_t between, unsigned seed)
      : rows(m),
        columns(n),
        gap(between),
        by_rows(rows_first),
        data(random_floats(by_rows ? m * (n + gap) : n * (m + gap), seed)) {}
  matrix<float> view() {
    return by_rows ? make_matrix(data.data(), rows, columns, columns + gap)
                   : make_matrix(data.data(), rows, columns, 1, rows + gap);
  }
  matrix<float const> view() const {
    return by_rows ? make_matrix(data.data(), rows, columns, columns + gap)
                   : make_matrix(data.data(), rows, columns, 1, rows + gap);
  }
};

/// The largest error of c = a b or c += a b, with the factors rounded as `factors` says, and the number of gaps of c
/// that were written.
double error_of(cpu::arithmetic factors, stored const& a, stored const& b, stored const& before, stored const& after,
                bool add) {
  auto const factor = [&](float x) { return static_cast<double>(factors == bf16 ? from_bfloat16(to_bfloat16(x)) : x); };
  stored expected = before;
  double worst = 0;
  auto const x = a.view(), y = b.view();
  auto const c = expected.view();
  for (index_t r = 0; r < a.rows; ++r)
    for (index_t i = 0; i < b.columns; ++i) {
      double sum = add ? static_cast<double>(c(r, i)) : 0.0;
      for (index_t l = 0; l < a.columns; ++l) sum += factor(x(r, l)) * factor(y(l, i));
      c(r, i) = static_cast<float>(sum);
    }
  for (std::size_t i = 0; i < after.data.size(); ++i) {
    double const e = std::abs(static_cast<double>(after.data[i]) - static_cast<double>(expected.data[i]));
    worst = e <= worst ? worst : e;  // keeps a NaN
  }
  return worst;
}

TEST_CASE("an engine computes products of every storage, with float and with rounded factors") {
  struct extents {
    index_t m, n, k;
  };
  for (auto const& [m, n, k] : {extents{1, 40, 33},
                                {5, 33, 100},
                                {70, 64, 40},
                                {100, 32, 230},
                                {40, 1, 50},
                                {64, 5, 1},
                                {20, 33, 2100},
                                {3, 40, 2500}})
    for (bool const a_by_rows : {true, false})
      for (bool const b_by_rows : {true, false})
        for (index_t const gap : {0, 3})
          for (bool const add : {false, true})
            for (auto const factors : {float32, bf16}) {
              loop_engine const engine(true);
              cpu::backend ex(2, &engine, factors);
              stored const a(m, k, a_by_rows, gap, 1), b(k, n, b_by_rows, gap, 2), before(m, n, true, gap, 3);
              stored c = before;
              if (add)
                matmul_add(ex, a.view(), b.view(), c.view());
              else
                matmul(ex, a.view(), b.view(), c.view());
              bool const rounds = factors == bf16 && std::min(n, k) >= ex.least_rounded;
              CAPTURE(m, n, k, a_by_rows, b_by_rows, gap, add, rounds);
              CHECK(error_of(rounds ? bf16 : float32, a, b, before, c, add) < 1e-6 * std::sqrt(k) + 1e-6);
              CHECK(engine.outside == 0);
              CHECK_FALSE(engine.rows.empty());
            }
}

TEST_CASE("an epilogue is applied to the sums of an engine") {
  index_t const m = 130, n = 48, k = 50;
  loop_engine const engine(false);
  cpu::backend ex(2, &engine);
  reference::backend plain;
  stored const a(m, k, true, 0, 1), b(k, n, true, 0, 2), gate(m, n, true, 2, 4), residual(m, n, true, 1, 5);
  auto const bias = random_floats(n, 6);
  std::uint64_t const step = 3;
  epilogue<float> e{.bias = make_vec(bias.data(), n), .relu = true};
  auto const compare = [&] {
    stored ours(m, n, true, 0, 7), theirs = ours;
    matmul(ex, a.view(), b.view(), ours.view(), e);
    matmul(plain, a.view(), b.view(), theirs.view(), e);
    for (std::size_t i = 0; i < ours.data.size(); ++i) REQUIRE(std::abs(ours.data[i] - theirs.data[i]) < 1e-5f);
  };
  compare();
  e.residual = residual.view();
  compare();
  e.gate = gate.view(), e.gate_scale = 1.25f, e.relu = false;
  compare();
  e = epilogue<float>{};
  e.dropout.rate = 0.3, e.dropout.key = 5, e.dropout.step = &step;
  compare();
}

TEST_CASE("results of an engine have the same bits for any number of threads, and rows for any number of rows") {
  index_t const n = 40, k = 230;
  for (auto const factors : {float32, bf16})
    for (bool const b_by_rows : {true, false}) {
      loop_engine const engine(true);
      stored const a(700, k, true, 0, 1), b(k, n, b_by_rows, 0, 2);
      stored whole(700, n, true, 0, 3);
      cpu::backend one(1, &engine, factors), three(3, &engine, factors);
      matmul(one, a.view(), b.view(), whole.view());
      for (index_t const m : {1, 7, 16, 47, 48, 100, 699, 700}) {
        stored part(m, n, true, 0, 4);
        matmul(three, row_block(a.view(), 0, m), b.view(), part.view());
        CHECK(std::memcmp(part.data.data(), whole.data.data(), part.data.size() * sizeof(float)) == 0);
      }
    }
  for (index_t const gap : {0, 2}) {  // sums of several pieces that are added to c
    loop_engine const engine(true);
    stored const a(64, k, true, 0, 1), b(k, n, true, 0, 2);
    stored whole(64, n, true, gap, 3), part = whole;
    cpu::backend ex(1, &engine, bf16);
    matmul_add(ex, a.view(), b.view(), whole.view());
    matmul_add(ex, row_block(a.view(), 0, 17), b.view(), row_block(part.view(), 0, 17));
    CHECK(std::memcmp(part.data.data(), whole.data.data(), static_cast<std::size_t>(17 * (n + gap)) * sizeof(float)) ==
          0);
  }
  loop_engine const engine(true);
  stored const a(30, 5000, false, 0, 1), b(5000, 40, true, 0, 2);  // a long sum
  stored first(30, 40, true, 0, 3), second(30, 40, true, 0, 4);
  cpu::backend one(1, &engine, bf16), three(3, &engine, bf16);
  matmul(one, a.view(), b.view(), first.view());
  matmul(three, a.view(), b.view(), second.view());
  CHECK(std::memcmp(first.data.data(), second.data.data(), first.data.size() * sizeof(float)) == 0);
}

TEST_CASE("an engine is asked for few numbers of rows, since it compiles a kernel for each") {
  loop_engine const engine(true);
  cpu::backend ex(1, &engine);
  for (index_t m = 48; m <= 600; m += 7) {
    stored const a(m, 8, true, 0, 1), b(8, 8, true, 0, 2);
    stored c(m, 8, true, 0, 3);
    matmul(ex, a.view(), b.view(), c.view());
  }
  CHECK(engine.rows.size() <= 40);
}

TEST_CASE("a product without a sum is zero") {
  loop_engine const engine(true);
  cpu::backend ex(1, &engine, bf16);
  stored const a(5, 0, true, 0, 1), b(0, 40, true, 0, 2);
  stored c(5, 40, true, 0, 3);
  matmul(ex, a.view(), b.view(), c.view());
  for (float const x : c.data) CHECK(x == 0.0f);
}

/// Numbers that bfloat16 holds exactly, as bfloat16 and as floats.
struct halves {
  index_t rows, columns;
  std::vector<triad::bfloat16> rounded;
  std::vector<float> values;

  halves(index_t m, index_t n, unsigned seed) : rows(m), columns(n), values(random_floats(m * n, seed)) {
    for (auto& v : values) {
      rounded.push_back(to_bfloat16(v));
      v = from_bfloat16(rounded.back());
    }
  }
  kept_factor<float> kept() { return tensor<triad::bfloat16, dyn, dyn>(rounded.data(), rows, columns); }
  kept_factor<float> plain() { return tensor<float, dyn, dyn>(values.data(), rows, columns); }
};

/// A backend as a user derives it, which counts its products.
struct counting : cpu::backend {
  using cpu::backend::backend;
  int products = 0;
};
void do_matmul(counting& ex, matrix<float const> a, matrix<float const> b, matrix<float> c, bool add,
               epilogue<float> const& e) {
  ++ex.products;
  cpu::do_matmul<float>(ex, a, b, c, add, e);
}

template <class Ex>
void expect_same_bits_kept(Ex&& ex, index_t m, index_t n, index_t k) {
  std::uint64_t const step = 3;
  auto const bias = random_floats(n, 6);
  halves a(m, k, 1), c(m, n, 2);
  stored const w(n, k, true, 0, 3);
  auto const b = transposed(w.view());
  epilogue<float> e{.bias = make_vec(bias.data(), n), .relu = true};
  e.dropout.rate = 0.3, e.dropout.key = 5, e.dropout.step = &step;
  stored expected(m, n, true, 0, 4), found = expected;
  matmul(ex, as_matrix(a.plain().values), b, expected.view(), e);
  matmul_kept(ex, kept_factor<float const>(a.kept()), b,
              kept_factor<float>(tensor<float, dyn, dyn>(found.data.data(), m, n)), e);
  CAPTURE(m, n, k);
  CHECK(std::memcmp(found.data.data(), expected.data.data(), found.data.size() * sizeof(float)) == 0);
  stored y(m, n, true, 0, 5), expected_y = y;
  std::vector<float> mean(static_cast<std::size_t>(m)), rstd = mean;
  auto const gain = make_vec(bias.data(), n);
  auto const of_rows = [](auto& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); };
  layer_norm(ex, expected.view(), gain, gain, 1e-5, expected_y.view(), of_rows(mean), of_rows(rstd));
  e.norm = {gain, gain, 1e-5f, y.view(), of_rows(mean), of_rows(rstd)};
  matmul_norm(ex, kept_factor<float const>(a.kept()), b,
              kept_factor<float>(tensor<float, dyn, dyn>(found.data.data(), m, n)), e);
  e.norm = {};
  CHECK(y.data == expected_y.data);
  for (bool const both : {false, true}) {
    std::fill(c.rounded.begin(), c.rounded.end(), triad::bfloat16{0x7fff});
    matmul_kept(ex, kept_factor<float const>(both ? a.kept() : a.plain()), b, c.kept(), e);
    for (std::size_t i = 0; i < c.rounded.size(); ++i) REQUIRE(c.rounded[i].bits == to_bfloat16(expected.data[i]).bits);
  }
}

TEST_CASE("a product of factors that are kept in bfloat16 has the bits of the product that rounds them") {
  loop_engine const engine(true);
  for (auto const& [m, n, k] :
       std::vector<std::array<index_t, 3>>{{700, 48, 64}, {33, 40, 230}, {1, 32, 32}, {50, 20, 40}}) {
    expect_same_bits_kept(cpu::backend(1, &engine, bf16), m, n, k);
    expect_same_bits_kept(cpu::backend(3, &engine, bf16), m, n, k);
    counting derived(2, &engine, bf16);
    expect_same_bits_kept(derived, m, n, k);
    CHECK(derived.products == 5);
  }
  CHECK(engine.outside == 0);
}

TEST_CASE("a product whose residual is its result is rounded, whatever comes before the residual") {
  index_t const m = 70, n = 40, k = 50;
  loop_engine const engine(true);
  cpu::backend ex(2, &engine, bf16);
  stored const a(m, k, true, 0, 1), b(k, n, true, 0, 2), gate(m, n, true, 2, 4);
  std::uint64_t const step = 3;
  for (index_t const gap : {0, 3})
    for (int what = 0; what < 4; ++what) {
      epilogue<float> e;
      if (what == 1) e.relu = true;
      if (what == 2) e.gate = gate.view();
      if (what == 3) e.dropout.rate = 0.3, e.dropout.key = 5, e.dropout.step = &step;
      stored apart(m, n, true, gap, 5), in_place = apart;
      stored const before = apart;
      e.residual = before.view();
      matmul(ex, a.view(), b.view(), apart.view(), e);
      e.residual = in_place.view();
      matmul(ex, a.view(), b.view(), in_place.view(), e);
      CAPTURE(gap, what);
      for (std::size_t i = 0; i < apart.data.size(); ++i)
        REQUIRE(std::abs(in_place.data[i] - apart.data[i]) <= (what == 0 ? 1e-5f : 0.0f));
    }
}

}  // namespace cpu_blocks_tests
