// Tests mixtures of the columns of grids: their definition, and gradients with respect to the weights and the values.
// Every backend must equal the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/mix_columns.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/cpu/mix_columns.hpp"

namespace ops_mix_columns_tests {

using namespace triad;

// Grids with more columns, with fewer, with no columns in one batch or in both, and without rows. The weights of the
// grids are stored in another order, with gaps.
template <class T>
struct problem {
  test::ragged_grids from{{{4, 3}, {7, 5}, {2, 0}, {3, 2}, {1, 0}, {0, 2}, {19, 9}}},
      to{{{4, 5}, {7, 2}, {2, 3}, {3, 0}, {1, 0}, {0, 2}, {19, 4}}};
  std::vector<index_t> begin{40, 2, 0, 14, 14, 56, 60};
  index_t values, apart;  // of a cell; from one cell to the next
  std::vector<T> mix, x, dy, y, dmix, dx;

  explicit problem(index_t k, index_t stride = 0)
      : values(k),
        apart(std::max(k, stride)),
        mix(test::random_values<T>(100, 1)),
        x(test::random_values<T>(from.dims.cells * apart, 2)),
        dy(test::random_values<T>(to.dims.cells * apart, 3)),
        y(dy.size(), T(7)),
        dmix(mix.size(), T(7)),
        dx(x.size(), T(7)) {}

  template <class V>
  auto table(V& v, test::ragged_grids const& grids) const {
    return make_matrix(v.data(), grids.dims.cells, values, apart);
  }
  vec<index_t const> begins() const { return make_vec(begin.data(), from.dims.graphs); }
  template <class V>
  static auto row(V& v) {
    return make_vec(v.data(), static_cast<index_t>(v.size()));
  }

  template <class Ex>
  void run(Ex&& ex) {
    mix_columns(ex, from.batch(), to.batch(), begins(), row(std::as_const(mix)), table(std::as_const(x), from),
                table(y, to));
    mix_columns_grad(ex, from.batch(), to.batch(), begins(), row(std::as_const(mix)), table(std::as_const(x), from),
                     table(std::as_const(dy), to), row(dmix), table(dx, from));
  }
};

/// Calls f(weight, x, y) with the numbers of a weight and of the values that it connects.
template <class T, class F>
void each_term(problem<T> const& p, F&& f) {
  for (std::size_t g = 0; g < p.begin.size(); ++g)
    for (index_t t = 0; t < p.from.rows[g]; ++t)
      for (index_t a = 0; a < p.to.columns[g]; ++a)
        for (index_t c = 0; c < p.from.columns[g]; ++c)
          for (index_t k = 0; k < p.values; ++k)
            f(static_cast<std::size_t>(p.begin[g] + a * p.from.columns[g] + c),
              static_cast<std::size_t>((p.from.cell_begin[g] + t * p.from.columns[g] + c) * p.apart + k),
              static_cast<std::size_t>((p.to.cell_begin[g] + t * p.to.columns[g] + a) * p.apart + k));
}

TEMPLATE_TEST_CASE("mixtures of columns and their gradients are sums over the terms of their definition", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t values : {1, 3, 4, 9})
    for (index_t stride : {0, 11}) {
      CAPTURE(values, stride);
      problem<T> p(values, stride);
      p.run(ex);
      auto const zeros = [](std::vector<T> const& like) { return std::vector<double>(like.size(), 0.0); };
      auto y = zeros(p.y), dmix = zeros(p.dmix), dx = zeros(p.dx);
      std::vector<bool> of_y(y.size()), of_mix(dmix.size()), of_x(dx.size());
      each_term(p, [&](std::size_t w, std::size_t from, std::size_t to) {
        y[to] += static_cast<double>(p.mix[w]) * static_cast<double>(p.x[from]);
        dmix[w] += static_cast<double>(p.dy[to]) * static_cast<double>(p.x[from]);
        dx[from] += static_cast<double>(p.mix[w]) * static_cast<double>(p.dy[to]);
      });
      // Every cell and every weight is overwritten, also those without a term.
      for (index_t cell = 0; cell < p.to.dims.cells; ++cell)
        for (index_t k = 0; k < values; ++k) of_y[static_cast<std::size_t>(cell * p.apart + k)] = true;
      for (index_t cell = 0; cell < p.from.dims.cells; ++cell)
        for (index_t k = 0; k < values; ++k) of_x[static_cast<std::size_t>(cell * p.apart + k)] = true;
      for (std::size_t g = 0; g < p.begin.size(); ++g)
        for (index_t w = 0; w < p.to.columns[g] * p.from.columns[g]; ++w)
          of_mix[static_cast<std::size_t>(p.begin[g] + w)] = true;
      double const close = std::is_same_v<T, float> ? 4e-6 : 1e-13;  // sums of up to 19 * 9 products
      auto const compare = [&](char const* name, std::vector<T> const& found, std::vector<double> const& right,
                               std::vector<bool> const& written) {
        for (std::size_t k = 0; k < right.size(); ++k) {
          CAPTURE(name, k);
          CHECK_THAT(static_cast<double>(found[k]), test::WithinAbs(written[k] ? right[k] : 7, close));
        }
      };
      compare("y", p.y, y, of_y);
      compare("dmix", p.dmix, dmix, of_mix);
      compare("dx", p.dx, dx, of_x);
    }
}

TEMPLATE_TEST_CASE("the gradient of a mixture is its adjoint in the weights and in the values", "",
                   TRIAD_TEST_BACKENDS) {
  problem<double> p(3);
  p.run(TestType());
  double sum = 0, by_weights = 0, by_values = 0;
  for (std::size_t k = 0; k < p.y.size(); ++k) sum += p.y[k] * p.dy[k];
  for (std::size_t k = 0; k < p.x.size(); ++k) by_values += p.x[k] * p.dx[k];
  std::vector<bool> counted(p.mix.size());
  each_term(p, [&](std::size_t w, std::size_t, std::size_t) {
    if (!counted[w]) by_weights += p.mix[w] * p.dmix[w];
    counted[w] = true;
  });
  CHECK(std::abs(sum) > 0.1);
  CHECK_THAT(by_weights, test::WithinAbs(sum, 1e-11));
  CHECK_THAT(by_values, test::WithinAbs(sum, 1e-11));
}

TEMPLATE_TEST_CASE("a mixture by the identity copies", "", TRIAD_TEST_BACKENDS) {
  problem<double> p(3);
  p.to = p.from;
  p.begin.clear();
  p.mix.clear();
  for (index_t const m : p.from.columns) {
    p.begin.push_back(static_cast<index_t>(p.mix.size()));
    for (index_t a = 0; a < m; ++a)
      for (index_t c = 0; c < m; ++c) p.mix.push_back(a == c ? 1 : 0);
  }
  p.dy = test::random_values(p.to.dims.cells * 3, 3);
  p.y.assign(p.dy.size(), 7);
  p.dmix.assign(p.mix.size(), 7);
  p.run(TestType());
  CHECK(p.y == p.x);
  CHECK(p.dx == p.dy);
}

TEMPLATE_TEST_CASE("mixtures on the cpu have the same bits for any number of threads", "", float, double) {
  for (index_t values : {3, 5}) {
    problem<TestType> one(values), three(values);
    one.run(cpu::backend(1));
    three.run(cpu::backend(3));
    CHECK(one.y == three.y);
    CHECK(one.dmix == three.dmix);
    CHECK(one.dx == three.dx);
  }
}

TEST_CASE("mixtures read and write matrices of any stride on the cpu") {
  // Transposed matrices: the values of a cell are far apart.
  problem<double> p(3), plain(3);
  plain.run(reference::backend());
  auto const other_way = [](std::vector<double> const& v, index_t rows, index_t columns) {
    std::vector<double> turned(v.size());
    for (index_t r = 0; r < rows; ++r)
      for (index_t c = 0; c < columns; ++c)
        turned[static_cast<std::size_t>(c * rows + r)] = v[static_cast<std::size_t>(r * columns + c)];
    return turned;
  };
  auto const cells = p.from.dims.cells, mixed = p.to.dims.cells;
  auto const x = other_way(p.x, cells, 3), dy = other_way(p.dy, mixed, 3);
  std::vector<double> y(dy.size()), dx(x.size());
  auto const at = [](auto& v, index_t rows) { return make_matrix(v.data(), rows, 3, 1, rows); };
  cpu::backend ex(2);
  mix_columns(ex, p.from.batch(), p.to.batch(), p.begins(), p.row(std::as_const(p.mix)), at(x, cells), at(y, mixed));
  mix_columns_grad(ex, p.from.batch(), p.to.batch(), p.begins(), p.row(std::as_const(p.mix)), at(x, cells),
                   at(dy, mixed), p.row(p.dmix), at(dx, cells));
  CHECK(y == other_way(plain.y, mixed, 3));
  CHECK(dx == other_way(plain.dx, cells, 3));
  CHECK(p.dmix == plain.dmix);
}

TEST_CASE("mixtures refuse shapes that do not fit, with a sentence") {
  reference::backend ex;
  cpu::backend threads(2);
  problem<double> p(3);
  auto const mix = make_vec<double const>(p.mix.data(), 100);
  auto const refused = [&](problem<double> const& of, vec<double const> weights, std::string const& why) {
    for (int on = 0; on < 2; ++on) {
      auto const go = [&](auto& any) {
        mix_columns(any, of.from.batch(), of.to.batch(), of.begins(), weights,
                    make_matrix<double const>(p.x.data(), p.from.dims.cells, of.values, 3),
                    make_matrix(p.y.data(), p.to.dims.cells, 3, 3));
      };
      if (on == 0)
        CHECK_THROWS_WITH(go(ex), test::contains(why));
      else
        CHECK_THROWS_WITH(go(threads), test::contains(why));
    }
  };
  auto other = p;
  other.from.dims.cells -= 1;
  refused(other, mix, "rows of x, expected");
  other = p;
  other.values = 2;
  refused(other, mix, "mix_columns: y is (");
  other = p;
  other.from.dims.rows += 1;
  refused(other, mix, "36 rows in `to`, expected 37");
  other = p;
  other.from.dims.graphs -= 1;
  refused(other, mix, "7 grids in `to`, expected 6");
  other = p;
  other.from.rows[1] = 6;
  refused(other, mix, "grid 1 has 7 rows in `to`, expected 6, as in `from`");
  refused(p, make_vec<double const>(p.mix.data(), 95),
          "the weights of grid 6 are 60 to 96, expected within the 95 of mix");
  other = p;
  other.begin[3] = -1;
  refused(other, mix, "the weights of grid 3 are -1 to -1, expected within the 100 of mix");
  p.dmix.pop_back();
  CHECK_THROWS_WITH(p.run(ex), test::contains("mix_columns_grad: dmix"));
}

}  // namespace ops_mix_columns_tests
