// Tests causal triangular attention on every backend: which inputs its results must not depend on, and its gradient.
// Compares its results with plain loops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ops/triangle_call.hpp"
#include "tests/ragged.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_triangle_causal_tests {

using namespace triad;
using test::contains;
using test::ragged;
using test::random_values;

// The tolerance is relative to the largest value. It allows for rounding in sums of some hundred products of
// single-precision numbers, and for the error of exponentials, 2e-7.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;

// The number of nodes of the largest graph. On the stand-in for a GPU, threads are slow.
template <class Ex>
constexpr index_t largest = test::is_device<Ex> ? 26 : 48;

// Returns numbers of sources for a graph of n nodes: from none to more than n.
std::vector<index_t> numbers_of_sources(index_t n) { return {0, 1, n / 2, n - 1, n, n + 3}; }

template <class T>
using use = test::triangle_call<T>;

// Computes the results by the definition. Each edge has a list of middle nodes, and its results depend only on these
// nodes.
template <class T>
struct by_definition {
  std::vector<double> o, dx,
      weights;  // [head][triangle], before dropout; zero if there is no such triangle

  explicit by_definition(use<T> const& u)
      : o(u.o.size()), dx(u.dx.size()), weights(static_cast<std::size_t>(u.heads * u.shape.dims.triangles)) {
    for (std::size_t g = 0; g < u.shape.size.size(); ++g)
      for (index_t c = 0; c < u.heads; ++c)
        for (index_t i = 0; i < u.shape.size[g]; ++i)
          for (index_t j = 0; j < u.shape.size[g]; ++j) edge(u, g, c, i, j);
  }

 private:
  void edge(use<T> const& u, std::size_t g, index_t c, index_t i, index_t j) {
    index_t const n = u.shape.size[g], first = u.shape.edge_begin[g], d = u.d, root = u.width;
    auto const row = [&](index_t a, index_t b) { return first + a * n + b; };
    auto const at = [&](index_t r, index_t part, index_t f) {
      return static_cast<std::size_t>(r * 4 * d + part * d + c * root + f);
    };
    auto const x = [&](index_t r, index_t part, index_t f) { return static_cast<double>(u.x[at(r, part, f)]); };
    auto const d_o = [&](index_t f) {
      return static_cast<double>(u.d_o[static_cast<std::size_t>(row(i, j) * d + c * root + f)]);
    };
    bool const own = uses_own_key(u.form), right = uses_right_value(u.form);
    auto const keep = u.options().dropout;
    struct term {
      index_t l;
      bool masked;
      double weight, kept, slope;
    };
    std::vector<term> terms;
    double sum = 0, delta = 0;
    for (index_t l = 0; l < n; ++l) {
      if (!u.sources.empty() && l >= u.sources[g] && l > i && l > j) continue;
      bool const masked =
          !u.masked.empty() && u.masked[static_cast<std::size_t>(u.shape.triangle_begin[g] + (i * n + l) * n + j)] != 0;
      double score = 0, slope = 0;
      for (index_t f = 0; f < root; ++f) {
        score += x(row(i, l), 0, f) * x(own ? row(i, j) : row(l, j), 1, f);
        slope += d_o(f) * x(row(i, l), 2, f) * (right ? x(row(l, j), 3, f) : 1);
      }
      auto const element = u.shape.triangle_begin[g] * u.heads + ((c * n + l) * n + i) * n + j;
      double const kept = !keep.active() ? 1 : keep.keeps(static_cast<std::uint64_t>(element)) ? keep.scale() : 0;
      terms.push_back(
          {l, masked, std::exp(masked ? u.fill : score / std::sqrt(static_cast<double>(root))), kept, slope * kept});
      sum += terms.back().weight;
    }
    for (auto& t : terms) delta += (t.weight /= sum) * t.slope;
    for (auto const& t : terms) {
      index_t const q = row(i, t.l), k = own ? row(i, j) : row(t.l, j), other = row(t.l, j);
      weights[static_cast<std::size_t>(c * u.shape.dims.triangles + u.shape.triangle_begin[g] + (i * n + t.l) * n +
                                       j)] = t.weight;
      double const w = t.weight * t.kept,
                   ds = t.masked ? 0 : t.weight * (t.slope - delta) / std::sqrt(static_cast<double>(root));
      for (index_t f = 0; f < root; ++f) {
        double const v1 = x(q, 2, f), v2 = right ? x(other, 3, f) : 1;
        o[static_cast<std::size_t>(row(i, j) * d + c * root + f)] += w * v1 * v2;
        dx[at(q, 0, f)] += ds * x(k, 1, f);
        dx[at(k, 1, f)] += ds * x(q, 0, f);
        dx[at(q, 2, f)] += w * d_o(f) * v2;
        if (right) dx[at(other, 3, f)] += w * d_o(f) * v1;
      }
    }
  }
};

// Returns the largest difference, relative to the largest value. The distance from a NaN is infinite.
template <class A, class B>
double distance(std::vector<A> const& found, std::vector<B> const& exact) {
  double worst = 0, most = 1e-30;
  for (std::size_t e = 0; e < exact.size(); ++e) {
    double const here = std::abs(static_cast<double>(found[e]) - static_cast<double>(exact[e]));
    if (!(here <= 1e30)) return INFINITY;
    worst = std::max(worst, here);
    most = std::max(most, std::abs(static_cast<double>(exact[e])));
  }
  return worst / most;
}

TEMPLATE_TEST_CASE("a causal edge sums over its own list of middle nodes, masked and dropped ones among them", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : test::forms_but_flat)
    for (std::vector<index_t> const& sizes :
         {std::vector<index_t>{1, 2}, {3, 5, 6, 4}, {7, 16}, {18, 2, 20}, {21}, {40, 9}}) {
      if (*std::max_element(sizes.begin(), sizes.end()) > largest<typename TestType::backend>) continue;
      for (std::size_t way :
           sizes[0] > 16 ? std::vector<std::size_t>{1, 2} : std::vector<std::size_t>{0, 1, 2, 3, 4, 5})
        for (bool disturbed : {false, true}) {
          std::vector<index_t> sources;
          for (std::size_t g = 0; g < sizes.size(); ++g) sources.push_back(numbers_of_sources(sizes[g])[(way + g) % 6]);
          use<T> u(sizes, 2, sizes[0] < 10 ? 18 : 5, form, sources);
          if (disturbed) u.disturb();
          u.run(ex);
          by_definition<T> const exact(u);
          CAPTURE(static_cast<int>(form), sizes, sources, disturbed);
          CHECK(distance(u.o, exact.o) <= tolerance<T>);
          CHECK(distance(u.dx, exact.dx) <= tolerance<T>);
        }
    }
}

TEMPLATE_TEST_CASE("a causal triangle is one whose other middle nodes are masked with minus infinity, or nearly", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : test::forms_but_flat)
    for (index_t n : {2, 5, 16, 20, 29}) {
      index_t const s = n / 3;
      use<T> u({n}, 2, 6, form, {s}), masked({n}, 2, 6, form, {});
      masked.fill = -1e30;
      u.rate = masked.rate = 0.2;
      for (index_t i = 0; i < n; ++i)
        for (index_t l = 0; l < n; ++l)
          for (index_t j = 0; j < n; ++j) masked.masked.push_back(l >= std::max({s, i + 1, j + 1}));
      u.run(ex);
      masked.run(ex);
      CAPTURE(static_cast<int>(form), n);
      CHECK(distance(u.o, masked.o) <= tolerance<T>);
      CHECK(distance(u.dx, masked.dx) <= tolerance<T>);
      CHECK(distance(u.maximum, masked.maximum) <= tolerance<T>);
      CHECK(distance(u.inverse_sum, masked.inverse_sum) <= tolerance<T>);
    }
}

TEMPLATE_TEST_CASE("where every node is a source, causal says nothing", "", TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : test::forms_but_flat)
    for (index_t n : {1, 6, 13, 24}) {
      use<T> all({n, 3}, 2, 6, form, {n, 5}), plain({n, 3}, 2, 6, form, {});
      all.disturb();
      plain.disturb();
      all.run(ex);
      plain.run(ex);
      CAPTURE(static_cast<int>(form), n);
      CHECK(all.o == plain.o);
      CHECK(all.dx == plain.dx);
    }
}

TEMPLATE_TEST_CASE("an edge does not know the nodes after both of its ends, nor do they hear of it", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : test::forms_but_flat)
    for (index_t n : {5, 12, 20, 26, 41}) {
      if (n > largest<typename TestType::backend>) continue;
      for (index_t s : {index_t{0}, n / 3})
        for (index_t m : {n / 3, n - 2}) {
          use<T> u({n}, 2, 6, form, {s}), other({n}, 2, 6, form, {s}), alone({m + 1}, 2, 6, form, {s});
          u.rate = other.rate = 0.3;
          auto const late = [&](index_t row) { return row / n > m || row % n > m; };
          for (index_t r = 0; r < n * n; ++r) {
            for (index_t f = 0; f < 48; ++f)
              if (late(r))
                other.x[static_cast<std::size_t>(r * 48 + f)] = T(7) - T(3) * u.x[static_cast<std::size_t>(r * 48 + f)];
            for (index_t f = 0; f < 12; ++f)
              if (late(r)) u.d_o[static_cast<std::size_t>(r * 12 + f)] = 0;
          }
          u.run(ex);
          other.run(ex);
          bool same = true, others = false, heard = false;
          for (index_t r = 0; r < n * n; ++r) {
            for (index_t f = 0; f < 12; ++f) {
              bool const equal = u.edges(u.o)(r, f) == other.edges(other.o)(r, f);
              if (late(r))
                others = others || !equal;
              else
                same = same && equal;
            }
            for (index_t f = 0; f < 48; ++f)
              heard = heard || (late(r) && u.dx[static_cast<std::size_t>(r * 48 + f)] != 0 &&
                                (f < 36 || uses_right_value(form)));
          }
          CAPTURE(static_cast<int>(form), n, s, m);
          CHECK(same);  // all bits are the same
          CHECK(others);
          CHECK_FALSE(heard);

          // Repeats the computation without the nodes that no edge depends on. There is no dropout, because it would
          // drop different elements of a smaller graph.
          u.rate = 0;
          u.run(ex);
          std::vector<T> start_of_o;
          for (index_t r = 0; r < n * n; ++r) {
            if (late(r)) continue;
            auto const row = (r / n) * (m + 1) + r % n;
            std::copy_n(u.x.begin() + r * 48, 48, alone.x.begin() + row * 48);
            start_of_o.insert(start_of_o.end(), u.o.begin() + r * 12, u.o.begin() + (r + 1) * 12);
          }
          alone.run(ex);
          CHECK(distance(alone.o, start_of_o) <= tolerance<T>);
        }
    }
}

TEMPLATE_TEST_CASE("what is closed to a whole tile is not even read", "", TRIAD_TEST_BACKENDS_BY_PRECISION) {
  // Tiles of the forward pass have at most 32 rows, 32 columns and 32 middle nodes. Tiles of the backward pass have at
  // most 16 rows, 32 columns and 16 middle nodes.
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  constexpr index_t n = 42, d = 12;
  for (auto form : test::forms_but_flat) {
    CAPTURE(static_cast<int>(form));
    use<T> u({n}, 2, 6, form, {4}), far({n}, 2, 6, form, {4}), wrong({n}, 2, 6, form, {4});
    for (index_t r = 0; r < n * n; ++r) {
      if (r / n >= 40 || r % n >= 40) std::fill_n(far.x.begin() + r * 4 * d, 4 * d, T(NAN));
      if (r / n < 16 && r % n < 16) std::fill_n(wrong.d_o.begin() + r * d, d, T(NAN));
    }
    u.run(ex);
    far.run(ex);
    wrong.run(ex);
    index_t different = 0, spoiled = 0;
    for (index_t r = 0; r < n * n; ++r)
      for (index_t f = 0; f < d; ++f) {
        if (r / n < 16 && r % n < 16) different += far.edges(far.o)(r, f) != u.edges(u.o)(r, f);
        for (index_t part = 0; part < (uses_right_value(form) ? 4 : 3); ++part) {
          bool const left = part % 2 == 0,
                     own = part == 1 && uses_own_key(form);  // q and v1 of (i, l), otherwise k and v2 of (l, j)
          auto const at = static_cast<std::size_t>((4 * r + part) * d + f);
          index_t const end = left ? r / n : r % n, middle = left ? r % n : r / n;
          if (end < 16 && middle >= 32 && !own) different += wrong.dx[at] != u.dx[at];
          spoiled += std::isnan(wrong.dx[at]);
        }
      }
    CHECK(different == 0);
    CHECK(spoiled > 0);
  }
}

TEMPLATE_TEST_CASE("the causal triangle has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (auto form : test::forms_but_flat)
    for (std::vector<index_t> const& sizes : {std::vector<index_t>{4, 1, 7}, {18}})
      for (bool disturbed : {false, true}) {
        if (sizes[0] == 18 && (test::is_device<TestType> ? form != triangle_form::full : disturbed)) continue;
        std::vector<index_t> sources;
        for (auto n : sizes) sources.push_back(n / 3);
        use<double> u(sizes, 2, 3, form, sources);
        if (disturbed) u.disturb();
        auto const input = std::vector<double>(u.x.begin(), u.x.end() - 16);
        auto const set = [&](variables const& at) { std::copy(at[0].values.begin(), at[0].values.end(), u.x.begin()); };
        CAPTURE(static_cast<int>(form), sizes, disturbed);
        CHECK_GRADIENT(gradient_check(
            {{"projections", input}},
            [&](variables const& at) {
              set(at);
              u.run(ex);
              double sum = 0;
              for (std::size_t e = 0; e + 16 < u.o.size(); ++e) sum += u.o[e] * u.d_o[e];
              return sum;
            },
            [&](variables const& at, variables& d) {
              set(at);
              u.run(ex);
              d[0].values.assign(u.dx.begin(), u.dx.end() - 16);
            }));
      }
}

TEMPLATE_TEST_CASE("weights of a causal edge are those of its middle nodes, and zero for all others", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : test::forms_but_flat) {
    use<T> u({2, 19}, 2, 6, form, {0, 4});
    u.disturb();
    by_definition<T> const exact(u);
    auto const g = u.shape.batch();
    for (index_t graph = 0; graph < 2; ++graph) {
      index_t const n = g.size(graph);
      for (index_t i = 0; i < n; i += 3)
        for (index_t j = 0; j < n; j += 4) {
          std::vector<T> found(static_cast<std::size_t>(2 * n), T(9));
          triangle_weights<typename TestType::backend, T>(ex, u.options(), u.inputs(), g, graph, i, j,
                                                          make_matrix(found.data(), 2, n, n));
          for (index_t c = 0; c < 2; ++c)
            for (index_t l = 0; l < n; ++l) {
              double const wanted = exact.weights[static_cast<std::size_t>(
                  c * u.shape.dims.triangles + g.triangle_begin(graph) + (i * n + l) * n + j)];
              double const got = static_cast<double>(found[static_cast<std::size_t>(c * n + l)]);
              CAPTURE(static_cast<int>(form), n, i, l, j, wanted, got);
              REQUIRE((wanted == 0 ? got == 0 : std::abs(got - wanted) <= tolerance<T>));
            }
        }
    }
  }
}

TEST_CASE("sources that do not fit are refused with a sentence") {
  reference::backend ex;
  for (auto form : {triangle_form::full, triangle_form::flat}) {
    use<double> u({3, 2}, 2, 4, form,
                  form == triangle_form::flat ? std::vector<index_t>{1, 1} : std::vector<index_t>{1});
    CHECK_THROWS_WITH(u.run(ex), contains(form == triangle_form::flat ? "not causal" : "sources is (1), expected (2)"));
  }
  use<double> right({3, 2}, 2, 4, triangle_form::full, {1, 1});
  CHECK_NOTHROW(right.run(ex));
}

}  // namespace ops_triangle_causal_tests
