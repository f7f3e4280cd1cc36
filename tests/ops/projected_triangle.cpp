// Tests triangular attention of states on every backend against products and a triangle, and by chunks of graphs for an
// engine.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/projected_triangle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/cpu/products/counting_backend.hpp"
#include "tests/cpu/products/loop_engine.hpp"
#include "tests/ops/triangle_call.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/projected_triangle.hpp"
#include "triad/reference/projected_triangle.hpp"

namespace ops_projected_triangle_tests {

using namespace triad;
using test::contains;

/// What the two ways of a call differ in.
struct options {
  triangle_form form = triangle_form::full;
  bool disturbed = false, causal = false, keeps = false, has_bias = true, rounded = false, has_dx = true;
};

/// The operands and results of one call, with `in` columns of x.
template <class T>
struct problem {
  test::triangle_call<T> triangle;
  options chosen;
  index_t in, out, rows;
  std::vector<T> x, w, b, projected, residual, dx, dw, db;
  std::vector<triad::bfloat16> rounded;

  problem(std::vector<index_t> nodes, index_t heads, index_t width, index_t columns, options const& o)
      : triangle(nodes, heads, width, o.form),
        chosen(o),
        in(columns),
        out((uses_right_value(o.form) ? 4 : 3) * heads * width),
        rows(triangle.shape.dims.rows),
        x(test::random_values<T>(rows * in, 31)),
        w(test::random_values<T>(out * in, 32, 0.4)),
        b(test::random_values<T>(o.has_bias ? out : 0, 33)),
        projected(o.keeps ? static_cast<std::size_t>(rows * out) + 16 : 0, T(7)),
        residual(test::random_values<T>(rows * in, 34)),
        dx(o.has_dx ? x.size() : 0, T(7)),
        dw(test::random_values<T>(out * in, 35)),
        db(test::random_values<T>(o.has_bias ? out : 0, 36)) {
    if (o.disturbed) triangle.disturb();
    if (o.causal)
      for (auto const n : nodes) triangle.sources.push_back(n / 2);
    if (o.rounded)
      for (auto const v : x) rounded.push_back(to_bfloat16(static_cast<float>(v)));
  }
  projected_triangle_operands<T> operands() {
    projected_triangle_operands<T> o{
        {}, make_matrix<T const>(w.data(), out, in, in), make_vec<T const>(b.data(), static_cast<index_t>(b.size()))};
    if (chosen.rounded)
      o.x = tensor<triad::bfloat16 const, dyn, dyn>(rounded.data(), extents<dyn, dyn>(rows, in));
    else
      o.x = tensor<T const, dyn, dyn>(x.data(), extents<dyn, dyn>(rows, in));
    if (chosen.keeps) o.projected = tensor<T, dyn, dyn>(projected.data(), extents<dyn, dyn>(rows, out));
    return o;
  }
  projected_triangle_gradients<T> gradients() {
    projected_triangle_gradients<T> to{make_matrix(dx.data(), chosen.has_dx ? rows : 0, in, in),
                                       make_matrix(dw.data(), out, in, in),
                                       make_vec(db.data(), static_cast<index_t>(db.size()))};
    if (!chosen.has_dx) return to;
    to.after.residual = make_matrix<T const>(residual.data(), rows, in, in);
    if (chosen.disturbed) to.after.gate = to.after.residual, to.after.gate_scale = T(1.5);
    return to;
  }
  triangle_statistics<T> statistics() {
    auto const heads = triangle.heads;
    return {make_matrix(triangle.maximum.data(), rows, heads, heads),
            make_matrix(triangle.inverse_sum.data(), rows, heads, heads)};
  }
  template <class Ex>
  void run(Ex&& ex) {
    auto const s = statistics();
    test::with_scratch(ex, {}, [&](auto& on, call const& c) {
      using any = std::remove_reference_t<decltype(on)>;
      projected_triangle<any, T>(on, *c.scratch, triangle.options(), operands(), triangle.shape.batch(), s,
                                 triangle.edges(triangle.o));
      projected_triangle_grad<any, T>(on, *c.scratch, triangle.options(), operands(), triangle.shape.batch(),
                                      {s.maximum, s.inverse_sum}, triangle.edges(std::as_const(triangle.o)),
                                      triangle.edges(std::as_const(triangle.d_o)), gradients());
    });
  }
  /// Runs the parts one after the other, with the backend's own products and triangle.
  template <class Ex>
  void run_parts(Ex&& ex) {
    auto const t = triangle.options();
    auto const g = triangle.shape.batch();
    auto const s = statistics();
    auto const with = [&](std::size_t bytes, auto&& work) {
      std::vector<std::byte> memory(bytes + 256);
      arena place(memory.data(), memory.size());
      work(place.make_workspace(bytes));
    };
    with(parts_of_projected_triangle_workspace(ex, t, operands(), g.dims),
         [&](workspace ws) { projected_triangle_by_parts(ex, t, operands(), g, s, triangle.edges(triangle.o), ws); });
    with(parts_of_projected_triangle_grad_workspace(ex, t, operands(), g.dims), [&](workspace ws) {
      projected_triangle_grad_by_parts<std::remove_reference_t<Ex>, T>(
          ex, t, operands(), g, {s.maximum, s.inverse_sum}, triangle.edges(std::as_const(triangle.o)),
          triangle.edges(std::as_const(triangle.d_o)), gradients(), ws);
    });
  }
};

template <class A, class B>
double distance(std::vector<A> const& found, std::vector<B> const& expected) {
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    worst = e <= worst ? worst : e;  // keeps a NaN
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return worst / largest;
}
template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

TEMPLATE_TEST_CASE("triangular attention of states is products and a triangle on every backend", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  double const close = std::is_same_v<T, float> ? 1e-4 : 1e-12;
  for (auto const& chosen :
       {options{}, options{triangle_form::value_ablation, true},
        options{triangle_form::attention_ablation, false, true},
        options{triangle_form::both_ablations, true, false, true},
        options{triangle_form::flat, true, false, true, false}, options{triangle_form::full, true, true, true, false},
        options{triangle_form::full, true, false, false, true, false, false}}) {
    std::vector<index_t> const nodes{3, 1, 5, 2};
    problem<double> expected(nodes, 2, 3, 5, chosen);
    problem<T> found(nodes, 2, 3, 5, chosen);
    CAPTURE(static_cast<int>(chosen.form), chosen.disturbed, chosen.causal, chosen.keeps);
    expected.run_parts(reference::backend());
    found.run(typename TestType::backend());
    CHECK(distance(found.triangle.o, expected.triangle.o) < close);
    CHECK(distance(found.dx, expected.dx) < close);
    CHECK(distance(found.dw, expected.dw) < close);
    CHECK(distance(found.db, expected.db) < close);
    CHECK(distance(found.projected, expected.projected) < close);
  }
}

/// Graphs of 1 to 12 nodes, with 2,500 edges or more.
std::vector<index_t> many_graphs() {
  std::vector<index_t> nodes;
  for (index_t g = 0; g < 50; ++g) nodes.push_back(1 + g * 7 % 12);
  return nodes;
}

TEST_CASE("an engine computes triangular attention of small graphs by chunks, like the parts") {
  for (auto const factors : {cpu::arithmetic::float32, cpu::arithmetic::bf16})
    for (auto const& chosen :
         {options{}, options{triangle_form::full, true, true, true, false},
          options{triangle_form::value_ablation, true}, options{triangle_form::attention_ablation, true, false, true},
          options{triangle_form::both_ablations, false, true},
          options{triangle_form::full, true, false, false, true, true},
          options{triangle_form::value_ablation, true, true, false, true, false, false}}) {
      if (chosen.rounded && factors != cpu::arithmetic::bf16) continue;
      test::loop_engine const engine(true);
      problem<float> expected(many_graphs(), 2, 20, 40, chosen), found = expected, alone = expected;
      cpu::backend ex(3, &engine, factors);
      CAPTURE(static_cast<int>(chosen.form), chosen.disturbed, chosen.keeps, static_cast<int>(factors));
      REQUIRE(cpu::triangles::by_chunks(ex, found.triangle.options(), found.operands(), found.triangle.shape.dims));
      expected.run_parts(ex);
      found.run(ex);
      alone.run(cpu::backend(1, &engine, factors));
      CHECK(engine.outside == 0);
      // A row of a product does not depend on the other rows.
      CHECK(same_bits(found.triangle.o, expected.triangle.o));
      CHECK(same_bits(found.triangle.maximum, expected.triangle.maximum));
      CHECK(same_bits(found.triangle.inverse_sum, expected.triangle.inverse_sum));
      CHECK(same_bits(found.projected, expected.projected));
      CHECK(same_bits(found.dx, expected.dx));
      // Sums over rows have other pieces.
      CHECK(distance(found.dw, expected.dw) < 1e-5);
      CHECK(distance(found.db, expected.db) < 1e-5);
      for (auto const& [a, b] : {std::pair(&alone.triangle.o, &found.triangle.o), std::pair(&alone.dx, &found.dx),
                                 std::pair(&alone.dw, &found.dw), std::pair(&alone.db, &found.db)})
        CHECK(same_bits(*a, *b));
    }
}

TEST_CASE("a chunk may be one graph that is larger than a chunk, and pieces may have no graphs") {
  test::loop_engine const engine(true);
  std::vector<index_t> nodes(20, 1);
  for (index_t const g : {3, 4, 5, 11, 12, 19}) nodes[static_cast<std::size_t>(g)] = 20;
  problem<float> expected(nodes, 1, 40, 32, {}), found = expected;
  cpu::backend ex(2, &engine, cpu::arithmetic::bf16);
  REQUIRE(cpu::triangles::by_chunks(ex, found.triangle.options(), found.operands(), found.triangle.shape.dims));
  expected.run_parts(ex);
  found.run(ex);
  CHECK(same_bits(found.triangle.o, expected.triangle.o));
  CHECK(same_bits(found.dx, expected.dx));
  CHECK(distance(found.dw, expected.dw) < 1e-5);
}

TEST_CASE("a piece whose graphs have no nodes adds nothing to the gradients") {
  test::loop_engine const engine(true);
  cpu::backend ex(1, &engine);
  std::vector<index_t> nodes{1, 20, 20, 20, 20, 20, 20};
  nodes.resize(16, 0);
  for (bool const keeps : {false, true}) {
    options const chosen{triangle_form::full, false, false, keeps};
    problem<float> before(many_graphs(), 1, 40, 32, chosen);  // leaves other sums in scratch memory
    before.run(ex);
    problem<float> expected(nodes, 1, 40, 32, chosen), found = expected;
    REQUIRE(cpu::triangles::by_chunks(ex, found.triangle.options(), found.operands(), found.triangle.shape.dims));
    expected.run_parts(ex);
    found.run(ex);
    CHECK(same_bits(found.dx, expected.dx));
    CHECK(distance(found.dw, expected.dw) < 1e-5);
    CHECK(distance(found.db, expected.db) < 1e-5);
  }
}

TEST_CASE("memory for triangular attention of states suffices for every smaller batch") {
  test::loop_engine const engine(true);
  cpu::backend ex(2, &engine);
  auto const dims = [](index_t graphs, index_t n) {
    return graph_dims{graphs, graphs * n * n, graphs * n, graphs * n * n * n, n};
  };
  problem<float> p({2}, 2, 20, 40, {});
  auto options = p.triangle.options();
  options.dropout = {.rate = 0.5};
  auto const bytes = [&](graph_dims const& d) {
    return std::pair(do_projected_triangle_workspace(ex, options, p.operands(), d),
                     do_projected_triangle_grad_workspace(ex, options, p.operands(), d));
  };
  for (auto const& capacity : {dims(400, 12), dims(100, 30), dims(400, 20), dims(15, 20)})
    for (auto const& smaller : {dims(400, 5), dims(400, 2), dims(15, 12), dims(16, 12), dims(100, 20), dims(15, 20)}) {
      if (!fits(smaller, capacity)) continue;
      CAPTURE(capacity.graphs, capacity.max_nodes, smaller.graphs, smaller.max_nodes);
      CHECK(bytes(smaller).first <= bytes(capacity).first);
      CHECK(bytes(smaller).second <= bytes(capacity).second);
    }
  // Chunks take less than a quarter of the memory of the projections of all edges, which is 4 bytes a number.
  CHECK(bytes(dims(4000, 12)).second < static_cast<std::size_t>(dims(4000, 12).rows * p.out));
}

TEST_CASE("a derived backend computes triangular attention of states by its own products") {
  test::loop_engine const engine(true);
  problem<float> p(many_graphs(), 2, 20, 40, {});
  test::counting_backend ex(engine);
  p.run(ex);
  CHECK(ex.products == 4);  // the projections, once more in backward, and two for the gradients
}

TEST_CASE("triangular attention of states refuses shapes that do not fit, with a sentence") {
  problem<double> p({2, 3}, 1, 4, 5, {});
  reference::backend ex;
  auto t = p.triangle.options();
  auto const run = [&](auto&& change) {
    auto o = p.operands();
    change(o);
    std::vector<std::byte> memory(1 << 20);
    arena scratch(memory.data(), memory.size());
    projected_triangle<reference::backend, double>(ex, scratch, t, o, p.triangle.shape.batch(), p.statistics(),
                                                   p.triangle.edges(p.triangle.o));
  };
  auto const unchanged = [](auto&) {};
  CHECK_NOTHROW(run([](auto&) {}));
  CHECK_THROWS_WITH(run([&](auto& o) { o.w = make_matrix<double const>(p.w.data(), 14, 5, 5); }),
                    contains("projected_triangle: w has 14 rows, expected a multiple of 4"));
  CHECK_THROWS_WITH(run([&](auto& o) { o.w = make_matrix<double const>(p.w.data(), 16, 4, 5); }),
                    contains("projected_triangle: w is (16, 4), expected (16, 5)"));
  CHECK_THROWS_WITH(run([&](auto& o) { o.b = make_vec<double const>(p.b.data(), 3); }),
                    contains("projected_triangle: b is (3), expected (16)"));
  CHECK_THROWS_WITH(run([&](auto& o) { o.w = make_matrix<double const>(p.w.data(), 16, 5, 1, 16); }),
                    contains("projected_triangle: w has a column stride of 16, expected 1"));
  t.heads = 3;
  CHECK_THROWS_WITH(run(unchanged), contains("heads"));
  t.heads = 0;
  CHECK_THROWS_WITH(run(unchanged), contains("heads"));
  t.heads = 1;
  std::vector<std::uint8_t> const few(3);
  t.mask.masked = make_vec(few.data(), 3);
  CHECK_THROWS_WITH(run(unchanged), contains("triangle: mask is (3), expected (35)"));
  t.mask = {};
  std::vector<index_t> const one(1);
  t.sources = make_vec(one.data(), 1);
  CHECK_THROWS_WITH(run(unchanged), contains("triangle: sources is (1), expected (2)"));
}

TEST_CASE("gradients of triangular attention of states refuse what does not fit, with a sentence") {
  problem<double> p({2, 3}, 1, 4, 5, {});
  reference::backend ex;
  auto const run = [&](auto&& change) {
    auto to = p.gradients();
    change(to);
    std::vector<std::byte> memory(1 << 20);
    arena scratch(memory.data(), memory.size());
    auto const s = p.statistics();
    projected_triangle_grad<reference::backend, double>(
        ex, scratch, p.triangle.options(), p.operands(), p.triangle.shape.batch(), {s.maximum, s.inverse_sum},
        p.triangle.edges(std::as_const(p.triangle.o)), p.triangle.edges(std::as_const(p.triangle.d_o)), to);
  };
  CHECK_NOTHROW(run([](auto&) {}));
  CHECK_THROWS_WITH(run([&](auto& to) { to.dw = make_matrix(p.dw.data(), 15, 5, 5); }),
                    contains("projected_triangle_grad: dw is (15, 5), expected (16, 5)"));
  CHECK_THROWS_WITH(run([&](auto& to) { to.db = make_vec(p.db.data(), 2); }),
                    contains("projected_triangle_grad: db is (2), expected (16)"));
  CHECK_THROWS_WITH(run([&](auto& to) { to.dx = make_matrix(p.x.data(), 13, 5, 5); }),
                    contains("projected_triangle_grad: dx in the memory of x or of the residual"));
  CHECK_THROWS_WITH(run([&](auto& to) { to.after.residual = make_matrix<double const>(p.residual.data(), 13, 4, 5); }),
                    contains("matmul: residual is (13, 4), expected (13, 5)"));
  CHECK_THROWS_WITH(
      run([&](auto& to) { to.after.residual = make_matrix<double const>(p.residual.data(), 13, 5, 1, 13); }),
      contains("projected_triangle_grad: residual has a column stride of 13, expected 1"));
}

}  // namespace ops_projected_triangle_tests
