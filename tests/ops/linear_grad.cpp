// Tests the gradients of an affine map on every backend, with every part left out, strided and in place, and by blocks
// for an engine.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/linear_grad.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/cpu/products/counting_backend.hpp"
#include "tests/cpu/products/loop_engine.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/linear_grad.hpp"
#include "triad/reference/linear_grad.hpp"

namespace ops_linear_grad_tests {

using namespace triad;
using triad::test::contains;

/// A problem whose matrices have `gap` elements between rows.
template <class T>
struct problem {
  index_t rows, in, out, gap;
  std::vector<T> x, w, dy, gate, dx, dw, db;

  problem(index_t r, index_t columns, index_t results, index_t between = 0)
      : rows(r),
        in(columns),
        out(results),
        gap(between),
        x(values(rows, in, 1)),
        w(values(out, in, 2)),
        dy(values(rows, out, 3)),
        gate(values(rows, in, 4)),
        dx(values(rows, in, 5)),
        dw(values(out, in, 6)),
        db(values(1, out, 7)) {}

  std::vector<T> values(index_t r, index_t c, unsigned seed) const {
    return test::random_values<T>(r * (c + gap), seed);
  }
  template <class S>
  matrix<S> view(S* data, index_t r, index_t c) const {
    return make_matrix(data, r, c, c + gap);
  }
  linear_grad_operands<T> operands(bool has_dx = true, bool has_db = true, double dropped = 0) {
    linear_grad_operands<T> o{view<T const>(x.data(), rows, in),
                              view<T const>(w.data(), out, in),
                              view<T const>(dy.data(), rows, out),
                              has_dx ? view(dx.data(), rows, in) : no_matrix<T>(),
                              view(dw.data(), out, in),
                              make_vec(db.data(), has_db ? out : 0),
                              {}};
    o.dropout = {.rate = dropped, .key = 5, .path = 3};
    return o;
  }
  template <class Ex>
  void run(Ex&& ex, linear_grad_operands<T> const& o) {
    std::vector<std::byte> memory(do_linear_grad_workspace(ex, o) + 4096);
    arena scratch(memory.data(), memory.size());
    linear_grad(ex, scratch, o);
  }
};

template <class T>
double distance(std::vector<T> const& a, std::vector<double> const& b) {
  double worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    double const e = std::abs(static_cast<double>(a[i]) - b[i]);
    worst = e <= worst ? worst : e;  // keeps a NaN
  }
  return worst;
}
template <class T>
void expect_near(problem<T> const& found, problem<double> const& exact, double close) {
  CHECK(distance(found.dx, exact.dx) < close);
  CHECK(distance(found.dw, exact.dw) < close);
  CHECK(distance(found.db, exact.db) < close);
}

TEMPLATE_TEST_CASE("the gradients of an affine map are the reference's on every backend", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  for (index_t const gap : {0, 3})
    for (bool const has_dx : {true, false})
      for (bool const has_db : {true, false})
        for (double const rate : {0.0, 0.25}) {
          problem<double> exact(70, 33, 20, gap);
          problem<T> found(70, 33, 20, gap);
          exact.run(reference::backend(), exact.operands(has_dx, has_db, rate));
          found.run(typename TestType::backend(), found.operands(has_dx, has_db, rate));
          expect_near(found, exact, std::is_same_v<T, float> ? 1e-4 : 1e-12);
        }
}

TEST_CASE("gradients of an affine map with dropout are those of drop(dy)") {
  problem<double> apart(40, 6, 70, 2), found(40, 6, 70, 2);
  auto const o = found.operands(true, true, 0.5);
  reference::backend ex;
  std::vector<double> dropped(apart.dy.size());
  dropout(ex, o.dropout, o.dy, apart.view(dropped.data(), apart.rows, apart.out));
  found.run(ex, o);
  apart.dy = dropped;
  apart.run(ex, apart.operands());
  CHECK(found.dx == apart.dx);
  CHECK(found.dw == apart.dw);
  CHECK(found.db == apart.db);
}

TEST_CASE("an engine computes the gradients by blocks, like the reference") {
  struct extents {
    index_t rows, in, out;
  };
  struct options {
    index_t gap;
    bool has_dx;
    double rate;
  };
  for (auto const& [rows, in, out] : {extents{2048, 40, 48}, {2500, 33, 112}, {3001, 64, 32}, {2100, 32, 50}})
    for (auto const& [gap, has_dx, rate] : {options{0, true, 0}, {5, true, 0.25}, {0, false, 0.25}, {5, false, 0}})
      for (auto const factors : {cpu::arithmetic::float32, cpu::arithmetic::bf16}) {
        test::loop_engine const engine(true);
        problem<double> exact(rows, in, out, gap);
        problem<float> found(rows, in, out, gap);
        auto o = found.operands(has_dx, true, rate);
        auto expected = exact.operands(has_dx, true, rate);
        if (has_dx) {
          o.after.gate = found.view<float const>(found.gate.data(), rows, in);
          expected.after.gate = exact.view<double const>(exact.gate.data(), rows, in);
        }
        if (factors == cpu::arithmetic::bf16)
          for (auto* const m : {&exact.x, &exact.w})
            for (auto& v : *m) v = static_cast<double>(from_bfloat16(to_bfloat16(static_cast<float>(v))));
        cpu::backend ex(2, &engine, factors);
        REQUIRE(cpu::detail::by_blocks(ex, o));
        // The sums of db have dy as it is.
        exact.run(reference::backend(), expected);
        auto const db = exact.db;
        if (factors == cpu::arithmetic::bf16) {
          problem<double> again(rows, in, out, gap);
          exact.dx = again.dx, exact.dw = again.dw, exact.db = again.db;
          // drop(dy) is rounded to float, and then to bfloat16.
          reference::backend plain;
          auto dropped = found.dy;
          dropout(plain, expected.dropout, o.dy, found.view(dropped.data(), rows, out));
          expected.dropout = {};
          for (std::size_t i = 0; i < dropped.size(); ++i)
            exact.dy[i] = static_cast<double>(from_bfloat16(to_bfloat16(dropped[i])));
          exact.run(reference::backend(), expected);
          exact.db = db;
        }
        found.run(ex, o);
        CAPTURE(rows, in, out, gap, has_dx);
        expect_near(found, exact, 2e-3);
        CHECK(engine.outside == 0);

        problem<float> alone(rows, in, out, gap);
        auto one = alone.operands(has_dx, true, rate);
        if (has_dx) one.after.gate = alone.view<float const>(alone.gate.data(), rows, in);
        alone.run(cpu::backend(1, &engine, factors), one);
        CHECK(std::memcmp(alone.dw.data(), found.dw.data(), found.dw.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(alone.dx.data(), found.dx.data(), found.dx.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(alone.db.data(), found.db.data(), found.db.size() * sizeof(float)) == 0);
      }
}

TEST_CASE("gradients by blocks keep to the limits of every engine") {
  for (auto const& limits : {cpu::product_limits{16, 100, 1}, {1, 64, 64}, {4, 70, 2}, {16, 768, 32}}) {
    test::loop_engine const engine(true, limits);
    problem<float> found(2100, 70, 195), rounded = found;
    for (auto* const m : {&rounded.x, &rounded.w, &rounded.dy})
      for (auto& v : *m) v = from_bfloat16(to_bfloat16(v));
    found.db = rounded.db = {};
    cpu::backend ex(2, &engine, cpu::arithmetic::bf16);
    REQUIRE(cpu::detail::by_blocks(ex, found.operands(true, false)));
    found.run(ex, found.operands(true, false));
    problem<double> exact(2100, 70, 195);
    exact.x.assign(rounded.x.begin(), rounded.x.end());
    exact.w.assign(rounded.w.begin(), rounded.w.end());
    exact.dy.assign(rounded.dy.begin(), rounded.dy.end());
    exact.run(reference::backend(), exact.operands(true, false));
    CAPTURE(limits.row_step, limits.inner, limits.inner_step);
    CHECK(distance(found.dx, exact.dx) < 2e-3);
    CHECK(distance(found.dw, exact.dw) < 2e-3);
    CHECK(engine.outside == 0);
  }
  for (auto const& limits : {cpu::product_limits{16, 100, 0}, {16, 100, 3}, {0, 100, 1}, {16, 63, 1}}) {
    test::loop_engine const engine(true, limits);
    problem<float> p(2100, 70, 64);
    CHECK_THROWS_WITH(p.run(cpu::backend(1, &engine, cpu::arithmetic::bf16), p.operands()),
                      contains("loops 1.0: limits are a row_step of " + std::to_string(limits.row_step)));
  }
}

TEST_CASE("a derived backend computes the gradients by its own products") {
  test::loop_engine const engine(true);
  problem<float> p(2048, 32, 32);
  test::counting_backend ex(engine);
  p.run(ex, p.operands());
  CHECK(ex.products == 2);
}

TEST_CASE("gradients of an x that is kept in bfloat16 have the bits of gradients that round it") {
  test::loop_engine const engine(true);
  auto const expect_same = [&](auto&& ex, index_t rows, index_t in, index_t out) {
    problem<float> expected(rows, in, out);
    std::vector<triad::bfloat16> x, gate;
    auto const round = [](std::vector<float>& values, std::vector<triad::bfloat16>& to) {
      for (auto& v : values) to.push_back(to_bfloat16(v)), v = from_bfloat16(to.back());
    };
    round(expected.x, x), round(expected.gate, gate);
    for (bool const has_dx : {true, false})
      for (bool const own_gate : {true, false}) {
        problem<float> first = expected, second = expected;
        auto o = first.operands(has_dx), kept = second.operands(has_dx);
        auto const& gated_by = own_gate ? first.gate : first.x;
        if (has_dx) o.after.gate = first.view<float const>(gated_by.data(), rows, in), o.after.gate_scale = 1.25f;
        if (has_dx) kept.rounded_gate = second.view<triad::bfloat16 const>((own_gate ? gate : x).data(), rows, in);
        kept.after.gate_scale = o.after.gate_scale;
        kept.x = no_matrix<float const>();
        kept.rounded_x = second.view<triad::bfloat16 const>(x.data(), rows, in);
        first.run(ex, o);
        second.run(ex, kept);
        CAPTURE(rows, in, out, has_dx, own_gate);
        CHECK(std::memcmp(second.dw.data(), first.dw.data(), first.dw.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(second.dx.data(), first.dx.data(), first.dx.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(second.db.data(), first.db.data(), first.db.size() * sizeof(float)) == 0);
      }
  };
  for (auto const& [rows, in, out] :
       std::vector<std::array<index_t, 3>>{{2500, 40, 48}, {300, 40, 48}, {20, 40, 48}, {2500, 20, 48}, {2500, 40, 50}})
    for (int const threads : {1, 3}) expect_same(cpu::backend(threads, &engine, cpu::arithmetic::bf16), rows, in, out);
  test::counting_backend derived(engine);
  derived.arithmetic = cpu::arithmetic::bf16;
  expect_same(derived, 2048, 32, 32);
  CHECK(derived.products > 0);
  CHECK(engine.outside == 0);
}

TEST_CASE("dx may be the memory of x") {
  test::loop_engine const engine(true);
  problem<float> apart(2048, 32, 32), in_place(2048, 32, 32);
  cpu::backend ex(1, &engine);
  apart.run(ex, apart.operands());
  auto o = in_place.operands();
  o.dx = make_matrix(in_place.x.data(), o.dx.extent(0), o.dx.extent(1), o.dx.extent(1));
  CHECK_FALSE(cpu::detail::by_blocks(ex, o));
  in_place.run(ex, o);
  for (std::size_t i = 0; i < apart.dx.size(); ++i) REQUIRE(std::abs(in_place.x[i] - apart.dx[i]) < 1e-4f);
  for (std::size_t i = 0; i < apart.dw.size(); ++i) REQUIRE(std::abs(in_place.dw[i] - apart.dw[i]) < 1e-2f);
}

TEST_CASE("memory for the gradients of an affine map with dropout suffices for every smaller batch") {
  test::loop_engine const engine(true);
  cpu::backend ex(1, &engine);
  auto const bytes = [&](index_t rows) {
    linear_grad_operands<float> o{
        make_matrix<float const>(nullptr, rows, 40, 40), make_matrix<float const>(nullptr, 50, 40, 40),
        make_matrix<float const>(nullptr, rows, 50, 50), make_matrix<float>(nullptr, rows, 40, 40),
        make_matrix<float>(nullptr, 50, 40, 40),         make_vec<float>(nullptr, 50)};
    o.dropout = {.rate = 0.5};
    return do_linear_grad_workspace(ex, o);
  };
  CHECK(bytes(100000) == bytes(2048));
  for (index_t const rows : {1, 63, 2047}) CHECK(bytes(rows) <= bytes(2048));
  problem<float> small(2047, 40, 50);
  auto const o = small.operands(true, true, 0.5);
  std::vector<std::byte> memory(bytes(100000) + 256);
  arena scratch(memory.data(), memory.size());
  linear_grad(ex, scratch, o);
  problem<double> exact(2047, 40, 50);
  exact.run(reference::backend(), exact.operands(true, true, 0.5));
  expect_near(small, exact, 2e-3);
}

TEST_CASE("gradients of an affine map refuse shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p(5, 4, 3);
  auto o = p.operands();
  o.dw = make_matrix(p.dw.data(), 2, 4, 4);
  REQUIRE_THROWS_WITH(p.run(ex, o), contains("linear_grad: dw is (2, 4), expected (3, 4)"));
  o = p.operands();
  o.db = make_vec(p.db.data(), 2);
  REQUIRE_THROWS_WITH(p.run(ex, o), contains("linear_grad: db is (2), expected (3)"));
  o = p.operands();
  o.w = make_matrix<double const>(p.w.data(), 3, 3, 4);
  REQUIRE_THROWS_WITH(p.run(ex, o), contains("linear_grad: w is (3, 3), expected (3, 4)"));
  o = p.operands(true, true, 1.5);
  REQUIRE_THROWS_WITH(p.run(ex, o), contains("linear_grad: the rate of dropout is 1.5"));
  o = p.operands(true, true, 0.5);
  o.dx = make_matrix(p.x.data(), 5, 4, 4);
  REQUIRE_THROWS_WITH(p.run(ex, o), contains("linear_grad: dropout, and dx in the memory of x"));
}

}  // namespace ops_linear_grad_tests
