// Tests one step of causal triangular attention. Its results must equal those of the newest edges in the whole graph,
// whichever hypotheses are continued.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/triangle_step.hpp"

#include <cmath>
#include <limits>
#include <ostream>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/triangle_step.hpp"
#include "triad/reference/triangle.hpp"
#include "triad/reference/triangle_step.hpp"

namespace ops_triangle_step_tests {

using namespace triad;

struct shape {
  std::vector<index_t> sources;
  index_t beam, steps, heads, width;
  triangle_form form = triangle_form::full;
};

std::ostream& operator<<(std::ostream& out, shape const& s) {
  out << "sources";
  for (auto n : s.sources) out << ' ' << n;
  return out << ", beam " << s.beam << ", " << s.steps << " steps, h = " << s.heads << ", k = " << s.width << ", form "
             << static_cast<int>(s.form);
}

// A growing cache with the layout of ops/triangle_step.hpp, and the whole graph of each hypothesis.
template <class T>
struct decoding {
  shape s;
  test::ragged graphs;
  index_t d, slots, parts, filled = 0, step = -1;
  std::vector<T> cache;                    // (rows, parts d), with slack after it
  std::vector<std::vector<double>> whole;  // of each hypothesis: (n, n, parts d)
  std::vector<index_t> nodes, owner;       // (slots), (slots, step + 1)
  random_stream random{3, 5};

  explicit decoding(shape const& of)
      : s(of),
        graphs(of.sources),
        d(of.heads * of.width),
        slots(of.beam * graphs.dims.graphs),
        parts(uses_right_value(of.form) ? 4 : 3) {
    index_t const rows = graphs.dims.rows + s.steps * 2 * s.beam * graphs.dims.nodes + slots * s.steps * s.steps;
    cache.assign(static_cast<std::size_t>(rows * parts * d + 16), std::numeric_limits<T>::quiet_NaN());
    whole.resize(static_cast<std::size_t>(slots));
    for (index_t g = 0; g < graphs.dims.graphs; ++g) {
      index_t const n = s.sources[static_cast<std::size_t>(g)];
      std::vector<double> block;
      for (index_t e = 0; e < n * n; ++e) fill_row(block);
      for (index_t k = 0; k < s.beam; ++k) {
        whole[static_cast<std::size_t>(g * s.beam + k)] = block;
        nodes.push_back(n);
      }
    }
  }
  decoding(decoding const&) = delete;

  /// Writes random values to the next row of the cache, and appends the same values to `into`.
  void fill_row(std::vector<double>& into) {
    for (index_t f = 0; f < parts * d; ++f) {
      auto const x = static_cast<float>(random.uniform(-1.5, 1.5));
      cache[static_cast<std::size_t>(filled++)] = static_cast<T>(x);
      into.push_back(static_cast<double>(x));
    }
  }
  /// Adds one node to every hypothesis. A hypothesis may continue another hypothesis of the same graph.
  void grow() {
    ++step;
    auto const before = std::exchange(whole, {});
    auto const owned = std::exchange(owner, {});
    for (index_t h = 0; h < slots; ++h) {
      index_t const parent =
          step == 0 || step % 3 == 2
              ? h
              : h / s.beam * s.beam + static_cast<index_t>(random.below(static_cast<std::uint32_t>(s.beam)));
      for (index_t u = 0; u < step; ++u) owner.push_back(owned[static_cast<std::size_t>(parent * step + u)]);
      owner.push_back(h);
      index_t const a = nodes[static_cast<std::size_t>(h)]++, n = a + 1;
      std::vector<double> shell;
      for (index_t e = 0; e < 2 * a + 1; ++e) fill_row(shell);
      auto const& old = before[static_cast<std::size_t>(parent)];
      std::vector<double> now;
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) {
          auto const& from = i < a && j < a ? old : shell;
          index_t const row = i < a && j < a ? i * a + j : j == a ? i : a + 1 + j;
          now.insert(now.end(), from.begin() + row * parts * d, from.begin() + (row + 1) * parts * d);
        }
      whole.push_back(std::move(now));
    }
  }

  template <class S>
  triangle_projections<S> split(S* data, index_t rows) const {
    auto const part = [&](index_t p) { return make_matrix(data + p * d, rows, d, parts * d); };
    return {part(0), part(1), part(2), parts == 4 ? part(3) : make_matrix<S>(nullptr, 0, 0, 0)};
  }
  edge_shells shells() const {
    return {graphs.batch(), s.beam, step, tensor<index_t const, dyn, dyn>(owner.data(), slots, step + 1)};
  }

  template <class Ex>
  std::vector<T> run(Ex& ex, shell_edges wanted, index_t skipped = 0) {
    auto at = shells();
    at.skipped = skipped;
    std::vector<T> o(static_cast<std::size_t>(at.count(wanted) * d), std::numeric_limits<T>::quiet_NaN());
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      triangle_step<std::remove_reference_t<decltype(backend)>, T>(
          backend, *c.scratch, s.form, s.heads,
          split<T const>(cache.data() + skipped * parts * d, at.first_row(step + 1) - skipped), at, wanted,
          make_matrix(o.data(), at.count(wanted), d, d));
    });
    return o;
  }
  /// Returns o (n, n, d) for all edges of hypothesis h, computed by ops/triangle.hpp.
  std::vector<double> full(index_t h) const {
    index_t const n = nodes[static_cast<std::size_t>(h)];
    test::ragged const one({n});
    std::vector<double> o(static_cast<std::size_t>(n * n * d)),
        statistics(static_cast<std::size_t>(2 * n * n * s.heads));
    triangle_options t{s.form, s.heads};
    t.sources = make_vec<index_t const>(&s.sources[static_cast<std::size_t>(h / s.beam)], 1);
    reference::backend ex;
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      triangle<std::remove_reference_t<decltype(backend)>, double>(
          backend, *c.scratch, t, split<double const>(whole[static_cast<std::size_t>(h)].data(), n * n), one.batch(),
          {make_matrix(statistics.data(), n * n, s.heads, s.heads),
           make_matrix(statistics.data() + n * n * s.heads, n * n, s.heads, s.heads)},
          make_matrix(o.data(), n * n, d, d));
    });
    return o;
  }
};

// The tolerance allows for rounding in sums of some hundred products of single-precision numbers below 4, and for the
// error of exponentials, 2e-7.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;

template <class Ex, class T>
void expect_whole(shape const& s) {
  INFO(s);
  Ex ex;
  decoding<T> p(s);
  while (p.step + 1 < s.steps) {
    p.grow();
    CAPTURE(p.step);
    auto const all = p.run(ex, shell_edges::all), own = p.run(ex, shell_edges::diagonal),
               first = p.run(ex, shell_edges::first);
    std::size_t at = 0;
    for (index_t h = 0; h < p.slots; ++h) {
      auto const exact = p.full(h);
      index_t const n = p.nodes[static_cast<std::size_t>(h)], a = n - 1, sources = a - p.step;
      double worst = 0;
      auto const compare = [&](std::vector<T> const& found, index_t row, index_t i, index_t j) {
        for (index_t f = 0; f < p.d; ++f) {
          double const e = std::abs(static_cast<double>(found[static_cast<std::size_t>(row * p.d + f)]) -
                                    exact[static_cast<std::size_t>((i * n + j) * p.d + f)]);
          worst = test::worse(worst, e);
        }
      };
      for (index_t i = 0; i <= a; ++i) compare(all, static_cast<index_t>(at++), i, a);
      for (index_t j = 0; j < a; ++j) compare(all, static_cast<index_t>(at++), a, j);
      compare(own, h, a, a);
      compare(first, h, sources, a);
      REQUIRE(worst < tolerance<T>);
    }
    auto const shells = p.shells();
    REQUIRE(static_cast<index_t>(at) == shells.rows(p.step));
    CHECK(p.run(ex, shell_edges::diagonal, shells.first_row(p.step)) == own);
    CHECK(p.run(ex, shell_edges::first, shells.first_row(0)) == first);
  }
  REQUIRE(p.filled == p.shells().first_row(p.step + 1) * p.parts * p.d);
}

constexpr triangle_form forms[] = {triangle_form::full, triangle_form::value_ablation,
                                   triangle_form::attention_ablation, triangle_form::both_ablations};

TEMPLATE_TEST_CASE("a step has of the newest edges what the whole causal graph has, whatever hypotheses go on", "",
                   TRIAD_TEST_TYPES) {
  using Ex = typename TestType::backend;
  using T = typename TestType::scalar;
  for (auto form : forms) {
    expect_whole<Ex, T>({{3, 1, 5, 2}, 3, 6, 2, 4, form});
    expect_whole<Ex, T>({{31}, 2, 4, 1, 5, form});  // more nodes than a warp has lanes
  }
  for (index_t k : {1, 15, 16, 17, 33, 64}) expect_whole<Ex, T>({{2, 4}, 2, 3, 3, k});
  expect_whole<Ex, T>({{1}, 1, 1, 1, 1});
  expect_whole<Ex, T>({{}, 2, 3, 2, 2});
}

TEST_CASE("a step on the cpu gives the same bits whatever the threads") {
  decoding<float> p({{3, 7, 1}, 3, 5, 4, 10});
  for (int t = 0; t < 5; ++t) p.grow();
  cpu::backend one(1), three(3);
  for (auto wanted : {shell_edges::all, shell_edges::diagonal, shell_edges::first})
    CHECK(p.run(one, wanted) == p.run(three, wanted));
}

TEST_CASE("a step on the cpu refuses graphs that are larger than was said when memory was measured") {
  cpu::backend ex(1);
  decoding<float> p({{2, 3}, 2, 2, 2, 3});
  p.grow();
  CHECK_NOTHROW(p.run(ex, shell_edges::all));
  p.graphs.dims.max_nodes = 2;
  CHECK_THROWS_WITH(p.run(ex, shell_edges::all), test::contains("nodes, expected at most 2"));
}

TEST_CASE("a step refuses what does not fit, with a sentence") {
  reference::backend ex;
  using test::contains;
  decoding<double> p({{2, 3}, 2, 2, 2, 3});
  p.grow();
  CHECK_NOTHROW(p.run(ex, shell_edges::all));
  p.s.form = triangle_form::flat;
  CHECK_THROWS_WITH(p.run(ex, shell_edges::all), contains("not causal"));
  p.s.form = triangle_form::full;
  p.s.heads = 4;
  CHECK_THROWS_WITH(p.run(ex, shell_edges::all), contains("expected 1 or more heads that divide the width"));
  p.s.heads = 2;
  CHECK_THROWS_WITH(p.run(ex, shell_edges::all, p.shells().first_row(0)),
                    contains("the rows that no wanted edge reads"));
  CHECK_THROWS_WITH(p.run(ex, shell_edges::first, p.shells().first_row(0) + 1),
                    contains("the rows that no wanted edge reads"));
  arena scratch;
  auto at = p.shells();
  std::vector<double> o(1000);
  auto const run = [&](index_t rows, index_t results) {
    triangle_step<reference::backend, double>(ex, scratch, p.s.form, 2, p.split<double const>(p.cache.data(), rows), at,
                                              shell_edges::diagonal, make_matrix(o.data(), results, p.d, p.d));
  };
  CHECK_THROWS_WITH(run(5, 4), contains("the cache has 5 rows, expected"));
  CHECK_THROWS_WITH(run(at.first_row(1), 3), contains("o is (3, 6), expected (4, 6)"));
  at.step = 1;
  CHECK_THROWS_WITH(run(at.first_row(1), 4), contains("owner is (4, 1), expected (4, 2)"));
  auto biased = p.split<double const>(p.cache.data(), 5);
  biased.bias.values = make_vec<double const>(p.cache.data(), 8);
  CHECK_THROWS_WITH((triangle_step<reference::backend, double>(ex, scratch, p.s.form, 2, biased, at, shell_edges::all,
                                                               make_matrix(o.data(), 4, p.d, p.d))),
                    contains("triangle_step: a bias, expected none"));
}

}  // namespace ops_triangle_step_tests
