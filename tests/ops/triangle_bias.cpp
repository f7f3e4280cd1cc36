// Tests the bias of the scores of triangular attention on every backend. Compares results and gradients with plain
// loops, with finite differences, and with an equal bias that has all axes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ops/triangle_call.hpp"
#include "tests/ragged.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_triangle_bias_tests {

using namespace triad;
using test::contains;
using test::ragged;
using test::random_values;

// The tolerance is relative to the largest value. It allows for rounding in sums of some thousand products of
// single-precision numbers, and for the error of exponentials, 2e-7.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;

// Every set of axes. If graphs differ in size, every graph has its own part.
std::vector<triangle_bias_axes> all_axes(bool equal_sizes) {
  std::vector<triangle_bias_axes> all;
  for (int set = equal_sizes ? 0 : 16; set < 32; ++set)
    all.push_back({(set & 16) != 0, (set & 8) != 0, (set & 4) != 0, (set & 2) != 0, (set & 1) != 0});
  return all;
}

struct call_sizes {
  std::vector<index_t> sizes;
  index_t heads, width;
  triangle_form form = triangle_form::full;
  bool disturbed = false;             // masks some triangles, and turns dropout on
  std::vector<index_t> sources = {};  // empty: not causal
};

// A call with a bias. Elements after the bias are NaN, and elements after its gradient have a mark, so that reads and
// writes outside are detected.
template <class T>
struct use : test::triangle_call<T> {
  using base = test::triangle_call<T>;
  triangle_bias_axes axes;
  std::vector<T> bias, d_bias;

  static constexpr T mark = T(12345);
  static constexpr index_t after = 16;

  use(call_sizes const& s, triangle_bias_axes const& axes_)
      : base(s.sizes, s.heads, s.width, s.form, s.sources), axes(axes_) {
    bias = random_values<T>(count(), 3, 1.5);
    bias.resize(bias.size() + after, std::numeric_limits<T>::quiet_NaN());
    d_bias.assign(bias.size(), mark);
    if (s.disturbed) this->disturb();
  }
  index_t count() const { return axes.count(this->shape.dims, this->heads); }
  template <class S>
  triangle_projections<S> split(S* data, S* of_bias) const {
    auto all = base::split(data);
    if (of_bias != nullptr) all.bias = {make_vec(of_bias, count()), axes};
    return all;
  }
  triangle_projections<T const> inputs() const { return split(this->x.data(), bias.data()); }

  template <class Ex>
  void run(Ex& ex, bool with_bias_gradient = true) {
    base::run(ex, inputs(), split(this->dx.data(), with_bias_gradient ? d_bias.data() : nullptr));
  }
  bool nothing_outside() const {
    return std::all_of(d_bias.end() - after, d_bias.end(), [](T v) { return v == mark; });
  }
};

// Computes the results by the definition.
template <class T>
struct by_definition {
  use<T> const& u;
  std::vector<double> o, dx, d_bias;

  explicit by_definition(use<T> const& u_) : u(u_), o(u.o.size()), dx(u.dx.size()), d_bias(u.d_bias.size()) {
    for (std::size_t g = 0; g < u.shape.size.size(); ++g)
      for (index_t c = 0; c < u.heads; ++c)
        for (index_t i = 0; i < u.shape.size[g]; ++i)
          for (index_t j = 0; j < u.shape.size[g]; ++j) edge(g, c, i, j);
  }

 private:
  // The place of the bias of a triangle. Counts along the axes that the bias has.
  std::size_t place(std::size_t g, index_t c, index_t i, index_t l, index_t j) const {
    auto const& a = u.axes;
    index_t at = 0;
    auto const axis = [&at](bool has, index_t extent, index_t number) {
      if (has) at = at * extent + number;
    };
    index_t const n = u.shape.size[g];
    axis(a.heads, u.heads, c);
    axis(a.i, n, i);
    axis(a.l, n, l);
    axis(a.j, n, j);
    for (std::size_t before = 0; a.graphs && before < g; ++before)
      at += (a.heads ? u.heads : 1) * a.numbers_of_head(u.shape.size[before]);
    return static_cast<std::size_t>(at);
  }
  void edge(std::size_t g, index_t c, index_t i, index_t j) {
    index_t const n = u.shape.size[g], first = u.shape.edge_begin[g], d = u.d, k = u.width;
    auto const row = [&](index_t a, index_t b) { return first + a * n + b; };
    auto const at = [&](index_t r, index_t part, index_t f) {
      return static_cast<std::size_t>(r * 4 * d + part * d + c * k + f);
    };
    auto const x = [&](index_t r, index_t part, index_t f) { return static_cast<double>(u.x[at(r, part, f)]); };
    auto const output = [&](index_t f) { return static_cast<std::size_t>(row(i, j) * d + c * k + f); };
    bool const own = uses_own_key(u.form), right = uses_right_value(u.form);
    auto const keep = u.options().dropout;
    double const root = std::sqrt(static_cast<double>(k));
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
      for (index_t f = 0; f < k; ++f) {
        score += x(row(i, l), 0, f) * x(own ? row(i, j) : row(l, j), 1, f);
        slope += static_cast<double>(u.d_o[output(f)]) * x(row(i, l), 2, f) * (right ? x(row(l, j), 3, f) : 1);
      }
      score = masked ? -3 : score / root + static_cast<double>(u.bias[place(g, c, i, l, j)]);
      auto const element = u.shape.triangle_begin[g] * u.heads + ((c * n + l) * n + i) * n + j;
      double const kept = !keep.active() ? 1 : keep.keeps(static_cast<std::uint64_t>(element)) ? keep.scale() : 0;
      terms.push_back({l, masked, std::exp(score), kept, slope * kept});
      sum += terms.back().weight;
    }
    for (auto& t : terms) delta += (t.weight /= sum) * t.slope;
    for (auto const& t : terms) {
      index_t const q = row(i, t.l), key = own ? row(i, j) : row(t.l, j), other = row(t.l, j);
      double const w = t.weight * t.kept, ds = t.masked ? 0 : t.weight * (t.slope - delta);
      d_bias[place(g, c, i, t.l, j)] += ds;
      for (index_t f = 0; f < k; ++f) {
        double const v1 = x(q, 2, f), v2 = right ? x(other, 3, f) : 1;
        double const d_o = static_cast<double>(u.d_o[output(f)]);
        o[output(f)] += w * v1 * v2;
        dx[at(q, 0, f)] += ds / root * x(key, 1, f);
        dx[at(key, 1, f)] += ds / root * x(q, 0, f);
        dx[at(q, 2, f)] += w * d_o * v2;
        if (right) dx[at(other, 3, f)] += w * d_o * v1;
      }
    }
  }
};

// Returns the largest difference, relative to the largest value, or to 1 if all values are smaller. A bias that is the
// same for all middle nodes has a gradient of zero. The distance from a NaN is infinite.
template <class A, class B>
double distance(std::vector<A> const& found, std::vector<B> const& exact, index_t after = 0) {
  double worst = 0, most = 1;
  for (std::size_t e = 0; e + static_cast<std::size_t>(after) < exact.size(); ++e) {
    double const here = std::abs(static_cast<double>(found[e]) - static_cast<double>(exact[e]));
    if (!(here <= 1e30)) return INFINITY;
    worst = std::max(worst, here);
    most = std::max(most, std::abs(static_cast<double>(exact[e])));
  }
  return worst / most;
}

template <class Test>
void expect_definition(Test, call_sizes const& s, triangle_bias_axes const& a) {
  using T = typename Test::scalar;
  typename Test::backend ex;
  use<T> u(s, a);
  u.run(ex);
  by_definition<T> const exact(u);
  CAPTURE(static_cast<int>(s.form), s.sizes, s.sources, s.disturbed, a.graphs, a.heads, a.i, a.l, a.j);
  CHECK(distance(u.o, exact.o) <= tolerance<T>);
  CHECK(distance(u.dx, exact.dx) <= tolerance<T>);
  CHECK(distance(u.d_bias, exact.d_bias, use<T>::after) <= tolerance<T>);
  CHECK(u.nothing_outside());
}

// A device has one kernel for a bias, whatever the size. So there, small graphs are enough, and the stand-in is slow.
template <class Test>
index_t larger_than_tiles(index_t n, index_t on_device) {
  return test::is_device<typename Test::backend> ? on_device : n;
}

TEMPLATE_TEST_CASE("a bias of any axes is added to the scores, and its gradient summed over the axes it lacks", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  index_t const large = larger_than_tiles<TestType>(22, 4), larger = larger_than_tiles<TestType>(23, 8);
  for (auto const& a : all_axes(true)) {
    expect_definition(TestType{}, {{4, 4, 4}, 2, 5}, a);
    expect_definition(TestType{}, {{large, large}, 2, 5, triangle_form::full, true}, a);
  }
  for (auto const& a : all_axes(false)) {
    expect_definition(TestType{}, {{1, 7, 3, 2}, 2, 5, triangle_form::full, true}, a);
    expect_definition(TestType{}, {{larger, 6}, 1, 20}, a);
  }
}

TEMPLATE_TEST_CASE("a bias serves the ablations, and the causal form with masks and dropout", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  triangle_bias_axes const some[] = {{true, true, true, true, true},
                                     {false, true, false, true, true},
                                     {true, false, true, true, false},
                                     {false, true, true, false, true}};
  index_t const small = larger_than_tiles<TestType>(18, 7);
  for (auto form : test::forms_but_flat)
    for (auto const& a : some)
      for (bool disturbed : {false, true}) {
        expect_definition(TestType{}, {{5, 5}, 2, larger_than_tiles<TestType>(18, 5), form, disturbed}, a);
        expect_definition(TestType{}, {{6, 6}, 2, 5, form, disturbed, {2, 0}}, a);
        expect_definition(TestType{}, {{small}, 1, 5, form, disturbed, {4}}, a);
        if (disturbed && !test::is_device<typename TestType::backend>)
          expect_definition(TestType{}, {{25}, 1, 5, form, disturbed, {3}}, a);
      }
}

TEMPLATE_TEST_CASE("tiles with remainders have the right bias", "", TRIAD_TEST_BACKENDS_BY_PRECISION) {
  if (test::is_device<typename TestType::backend>) return;  // its kernels have no tiles for a bias
  for (index_t n : {21, 33, 40, 65})
    for (triangle_bias_axes const& a : {triangle_bias_axes{}, {false, true, true, true, false}})
      expect_definition(
          TestType{},
          {{n}, 2, 8, triangle_form::full, n == 40, n == 33 ? std::vector{index_t{9}} : std::vector<index_t>{}}, a);
}

TEMPLATE_TEST_CASE("the bias of a triangle has the gradient of its value", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  triangle_bias_axes const some[] = {
      {true, true, true, true, true}, {false, true, false, true, true}, {false, false, false, true, false}};
  for (auto form : test::forms_but_flat)
    for (auto const& a : some) {
      use<double> u({{4, 4}, 2, 3, form, true, {1, 4}}, a);
      std::vector<double> const x(u.x.begin(), u.x.end() - 16), bias(u.bias.begin(), u.bias.begin() + u.count());
      auto const set = [&](variables const& at) {
        std::copy(at[0].values.begin(), at[0].values.end(), u.x.begin());
        std::copy(at[1].values.begin(), at[1].values.end(), u.bias.begin());
      };
      CAPTURE(static_cast<int>(form), a.graphs, a.heads, a.i, a.l, a.j);
      CHECK_GRADIENT(gradient_check(
          {{"projections", x}, {"bias", bias}},
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
            std::copy_n(u.dx.begin(), d[0].values.size(), d[0].values.begin());
            std::copy_n(u.d_bias.begin(), d[1].values.size(), d[1].values.begin());
          }));
    }
}

TEMPLATE_TEST_CASE("the gradient of a bias can be left out, and the others stay", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t n : {5, 19}) {
    if (n > 5 && test::is_device<typename TestType::backend>) continue;
    use<T> u({{n, n}, 2, 5}, {false, true, false, true, true}), other = u;
    u.run(ex);
    other.run(ex, false);
    CHECK(u.o == other.o);
    CHECK(u.dx == other.dx);
    CHECK(std::all_of(other.d_bias.begin(), other.d_bias.end(), [](T v) { return v == use<T>::mark; }));
  }
}

TEMPLATE_TEST_CASE("a bias of minus infinity leaves a triangle out", "", TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t n : {index_t{4}, larger_than_tiles<TestType>(22, 5)}) {
    // Node 1 is a middle node of no edge, so the results are those of the other middle nodes.
    use<T> u({{n}, 2, 5}, {false, false, false, true, false}), other = u;
    u.bias[1] = other.bias[1] = -std::numeric_limits<T>::infinity();
    for (index_t r = 0; r < n; ++r)  // the values of edges (r, 1) and (1, r), as left and right values
      for (index_t f = 0; f < u.d; ++f) {
        other.x[static_cast<std::size_t>((r * n + 1) * 4 * u.d + 2 * u.d + f)] = T(100);
        other.x[static_cast<std::size_t>((n + r) * 4 * u.d + 3 * u.d + f)] = T(100);
      }
    u.run(ex);
    other.run(ex);
    CHECK(u.o == other.o);
    by_definition<T> const exact(u);
    CHECK(distance(u.o, exact.o) <= tolerance<T>);
    CHECK(distance(u.dx, exact.dx) <= tolerance<T>);
    CHECK(u.d_bias[1] == T(0));
  }
}

TEMPLATE_TEST_CASE("the weights of one edge contain the bias", "", TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  index_t const n = 7;
  use<T> u({{n}, 2, 3}, {false, true, true, true, true});
  std::fill(u.x.begin(), u.x.end(), T(0));  // so the scores are the bias
  std::vector<T> weights(2 * n);
  triangle_weights<typename TestType::backend, T>(ex, u.options(), u.inputs(), u.shape.batch(), 0, 2, 4,
                                                  make_matrix(weights.data(), 2, n, n));
  for (index_t c = 0; c < 2; ++c) {
    auto const score = [&](index_t l) {
      return static_cast<double>(u.bias[static_cast<std::size_t>(((c * n + 2) * n + l) * n + 4)]);
    };
    double sum = 0;
    for (index_t l = 0; l < n; ++l) sum += std::exp(score(l));
    for (index_t l = 0; l < n; ++l)
      CHECK_THAT(weights[static_cast<std::size_t>(c * n + l)], test::WithinAbs(std::exp(score(l)) / sum, 1e-6));
  }
}

#if !defined(TRIAD_TEST_ON_CUDA)
TEST_CASE("the gradient of a bias has the same bits for any number of threads") {
  cpu::backend one(1), two(2);
  for (auto const& a : all_axes(true))
    for (index_t n : {5, 30}) {
      use<float> u({{n, n, n}, 2, 5}, a), other({{n, n, n}, 2, 5}, a);
      u.run(one);
      other.run(two);
      CHECK(u.d_bias == other.d_bias);
      CHECK(u.dx == other.dx);
    }
}

TEST_CASE("a bias that does not fit is refused with a sentence") {
  reference::backend ex;
  arena scratch;
  auto const forward = [&](use<double>& u) { u.run(ex); };
  use<double> flat({{3}, 2, 4, triangle_form::flat}, {});
  CHECK_THROWS_WITH(forward(flat), contains("the flat form with a bias, expected another form"));
  use<double> shared({{3, 2}, 2, 4}, {false, true, true, true, true});
  CHECK_THROWS_WITH(forward(shared), contains("a bias that all graphs share and graphs of different sizes"));
  use<double> u({{3, 2}, 2, 4}, {});
  triangle_statistics<double> const statistics{make_matrix(u.maximum.data(), 13, 2, 2),
                                               make_matrix(u.inverse_sum.data(), 13, 2, 2)};
  auto in = u.inputs();
  in.bias.values = make_vec<double const>(u.bias.data(), 69);
  CHECK_THROWS_WITH(
      (triangle<reference::backend, double>(ex, scratch, u.options(), in, u.shape.batch(), statistics, u.edges(u.o))),
      contains("bias is (69), expected (70)"));
  auto dx = u.split(u.dx.data(), u.d_bias.data());
  dx.bias.axes.i = false;
  dx.bias.values = make_vec(u.d_bias.data(), 26);
  in = u.inputs();
  auto const backward = [&] {
    triangle_grad<reference::backend, double>(ex, scratch, u.options(), in, u.shape.batch(),
                                              {statistics.maximum, statistics.inverse_sum}, u.edges(std::as_const(u.o)),
                                              u.edges(std::as_const(u.d_o)), dx);
  };
  CHECK_THROWS_WITH(backward(), contains("dx.bias has the axes (b, h, 1, n, n), expected (b, h, n, n, n)"));
  in.bias = {};
  CHECK_THROWS_WITH(backward(), contains("dx.bias without x.bias"));
}
#endif

}  // namespace ops_triangle_bias_tests
