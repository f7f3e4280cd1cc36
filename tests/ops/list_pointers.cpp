// Tests pointers between the members of a list: their definition, chains of pointers, gradients and the penalty. Every
// backend must equal the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/list_pointers.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/cpu/list_pointers.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_list_pointers_tests {

using namespace triad;
using test::WithinAbs;

// Grids with several members and slots, without slots, without members, without columns, with one member, and with more
// members than a warp has lanes.
template <class T>
struct problem {
  test::ragged_grids grids{{{4, 5}, {3, 4}, {2, 3}, {5, 0}, {1, 1}, {2, 37}}};
  std::vector<index_t> members{3, 4, 0, 0, 1, 35};
  list_pointer_options options;
  index_t pairs = grids.dims.pairs;
  std::vector<T> score, powers, d_heads, d_links, dscore, weight{T(0.7)}, loss{T(99)}, penalty;

  explicit problem(list_pointer_options const& o = {})
      : options(o),
        score(test::random_values<T>(pairs, 1, 3)),
        powers(static_cast<std::size_t>((o.squarings + 1) * pairs), T(99)),
        d_heads(test::random_values<T>(pairs, 2)),
        d_links(test::random_values<T>(pairs, 3)),
        dscore(score.size(), T(99)),
        penalty(score.size(), T(99)) {}

  vec<index_t const> counts() const { return make_vec(members.data(), grids.dims.graphs); }
  static vec<T const> view(std::vector<T> const& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); }
  static vec<T> view(std::vector<T>& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); }
  template <class V>
  auto rows(V& v) const {
    return make_matrix(v.data(), options.squarings + 1, pairs, pairs);
  }

  template <class Ex>
  void point(Ex& ex) {
    list_pointers(ex, grids.batch(), counts(), options, view(std::as_const(score)), rows(powers));
  }
  template <class Ex>
  void point_back(Ex& ex, std::vector<T> const& d_of_links) {
    test::with_scratch(ex, {}, [&](auto& any, call const& c) {
      list_pointers_grad(any, *c.scratch, grids.batch(), counts(), options, rows(std::as_const(powers)),
                         view(std::as_const(d_heads)), view(d_of_links), view(dscore));
    });
  }
  template <class Ex>
  void punish(Ex& ex) {
    auto const links = make_vec<T const>(powers.data(), pairs);
    test::with_scratch(ex, {}, [&](auto& any, call const& c) {
      list_penalty(any, *c.scratch, grids.batch(), counts(), links, view(std::as_const(weight)), view(loss),
                   view(penalty));
    });
  }
  template <class Ex>
  void run(Ex&& ex) {
    point(ex);
    punish(ex);
    point_back(ex, d_links);
  }
  T power(index_t k, std::size_t g, index_t i, index_t j) const {
    return powers[static_cast<std::size_t>(k * pairs + grids.pair_begin[g] + i * grids.columns[g] + j)];
  }
  /// Returns true if the score of pair (i, j) of grid g is read.
  bool reads(std::size_t g, index_t i, index_t j) const { return j <= i && i < members[g]; }
};

/// Calls f(g, i, j) for all pairs of columns.
template <class F>
void each_pair(test::ragged_grids const& grids, F&& f) {
  for (std::size_t g = 0; g < grids.columns.size(); ++g)
    for (index_t i = 0; i < grids.columns[g]; ++i)
      for (index_t j = 0; j < grids.columns[g]; ++j) f(g, i, j);
}

TEMPLATE_TEST_CASE("links are a softmax over earlier members, and heads are a power of the links", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (index_t squarings : {0, 1, 3}) {
    CAPTURE(squarings);
    problem<double> p({.distance = 0.5, .squarings = squarings});
    p.point(ex);
    for (std::size_t g = 0; g < p.members.size(); ++g) {
      auto const m = static_cast<std::size_t>(p.grids.columns[g]);
      using square = std::vector<std::vector<double>>;
      square links(m, std::vector<double>(m, 0.0));
      for (std::size_t i = 0; i < m; ++i) {
        double total = 0;
        links[i][i] = 1;
        if (static_cast<index_t>(i) >= p.members[g]) continue;
        for (std::size_t j = 0; j <= i; ++j) {
          double const apart = j < i ? static_cast<double>(i - j - 1) : 0;
          auto const at = static_cast<std::size_t>(p.grids.pair_begin[g]) + i * m + j;
          total += links[i][j] = std::exp(p.score[at] - 0.5 * apart);
        }
        for (auto& link : links[i]) link /= total;
      }
      square heads = links;  // one link further at a time
      for (index_t length = 1; length < index_t{1} << squarings; ++length) {
        square next(m, std::vector<double>(m, 0.0));
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < m; ++j)
            for (std::size_t c = 0; c < m; ++c) next[i][j] += links[i][c] * heads[c][j];
        heads = next;
      }
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) {
          CAPTURE(g, i, j);
          CHECK_THAT(p.power(0, g, static_cast<index_t>(i), static_cast<index_t>(j)), WithinAbs(links[i][j], 1e-14));
          CHECK_THAT(p.power(squarings, g, static_cast<index_t>(i), static_cast<index_t>(j)),
                     WithinAbs(heads[i][j], 1e-13));
        }
    }
  }
}

TEMPLATE_TEST_CASE("a chain of links leads to the head of its list, or as far as the squarings reach", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (index_t squarings : {0, 2, 3, 6}) {
    CAPTURE(squarings);
    problem<double> p({.distance = 40, .squarings = squarings});
    // Member 0 of each grid points to itself, and each later member to the member before.
    each_pair(p.grids, [&](std::size_t g, index_t i, index_t j) {
      p.score[static_cast<std::size_t>(p.grids.pair_begin[g] + i * p.grids.columns[g] + j)] = i == j ? -40 : 0;
    });
    p.point(ex);
    each_pair(p.grids, [&](std::size_t g, index_t i, index_t j) {
      CAPTURE(g, i, j);
      index_t const reach = index_t{1} << squarings;
      index_t const wanted = i >= p.members[g] ? i : i > reach ? i - reach : 0;
      CHECK_THAT(p.power(squarings, g, i, j), WithinAbs(j == wanted ? 1 : 0, 1e-12));
    });
  }
}

TEMPLATE_TEST_CASE("scores have the gradient of the heads, the links and the penalty", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (index_t squarings : {0, 1, 3}) {
    CAPTURE(squarings);
    problem<double> p({.distance = 0.3, .squarings = squarings});
    auto const value = [&](variables const& at) {
      p.score = at[0].values;
      p.point(ex);
      p.punish(ex);
      double sum = p.loss[0];
      for (std::size_t k = 0; k < p.score.size(); ++k)
        sum += p.d_links[k] * p.powers[k] +
               p.d_heads[k] * p.powers[static_cast<std::size_t>(squarings) * p.score.size() + k];
      return sum;
    };
    CHECK_GRADIENT(gradient_check({{"score", p.score}}, value,
                                  [&](variables const& at, variables& g) {
                                    (void)value(at);
                                    auto both = p.penalty;
                                    for (std::size_t k = 0; k < both.size(); ++k) both[k] += p.d_links[k];
                                    p.point_back(ex, both);
                                    g[0].values = p.dscore;
                                  },
                                  {.directions = 4, .elements = 30}));
  }
}

TEMPLATE_TEST_CASE("the penalty is for members after the first that point to themselves", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p;
  p.point(ex);
  p.punish(ex);
  double expected = 0;
  each_pair(p.grids, [&](std::size_t g, index_t i, index_t j) {
    CAPTURE(g, i, j);
    bool const counts = i == j && i > 0 && i < p.members[g];
    double const other = 1 - p.power(0, g, i, i) + list_penalty_offset;
    if (counts) expected -= 0.7 * std::log(other);
    CHECK_THAT(p.penalty[static_cast<std::size_t>(p.grids.pair_begin[g] + i * p.grids.columns[g] + j)],
               WithinAbs(counts ? 0.7 / other : 0, 1e-12));
  });
  CHECK(expected > 0);
  CHECK_THAT(p.loss[0], WithinAbs(expected, 1e-11));
}

TEMPLATE_TEST_CASE("pointers on every backend are those of the reference", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  problem<double> exact({.distance = 0.25});
  problem<T> found({.distance = 0.25});
  exact.run(reference::backend());
  found.run(typename TestType::backend());
  double const close = std::is_same_v<T, float> ? 2e-6 : 1e-14;
  auto const compare = [&](std::vector<T> const& ours, std::vector<double> const& right, double tolerance) {
    REQUIRE(ours.size() == right.size());
    for (std::size_t k = 0; k < right.size(); ++k) {
      CAPTURE(k);
      CHECK_THAT(static_cast<double>(ours[k]), WithinAbs(right[k], tolerance));
    }
  };
  compare(found.powers, exact.powers, close);
  compare(found.dscore, exact.dscore, 10 * close);  // sums of products of up to 35 members
  compare(found.penalty, exact.penalty, 100 * close);
  compare(found.loss, exact.loss, 100 * close);
}

TEMPLATE_TEST_CASE("pointers on the cpu have the same bits for any number of threads", "", float, double) {
  problem<TestType> one, three;
  one.run(cpu::backend(1));
  three.run(cpu::backend(3));
  CHECK(one.powers == three.powers);
  CHECK(one.dscore == three.dscore);
  CHECK(one.penalty == three.penalty);
  CHECK(one.loss == three.loss);
}

TEMPLATE_TEST_CASE("pairs that no list has are neither read nor given a gradient", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> clean, spoiled;
  clean.run(ex);
  each_pair(spoiled.grids, [&](std::size_t g, index_t i, index_t j) {
    auto const at = static_cast<std::size_t>(spoiled.grids.pair_begin[g] + i * spoiled.grids.columns[g] + j);
    if (spoiled.reads(g, i, j)) return;
    spoiled.score[at] = spoiled.d_heads[at] = spoiled.d_links[at] = std::nan("");
    CHECK(clean.dscore[at] == 0);
  });
  spoiled.run(ex);
  CHECK(spoiled.powers == clean.powers);
  CHECK(spoiled.dscore == clean.dscore);
  CHECK(spoiled.loss == clean.loss);
}

TEMPLATE_TEST_CASE("without members, every column is its own head, and nothing is learned", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p;
  p.members.assign(p.members.size(), 0);
  p.run(ex);
  each_pair(p.grids, [&](std::size_t g, index_t i, index_t j) { CHECK(p.power(3, g, i, j) == (i == j ? 1 : 0)); });
  CHECK(p.dscore == std::vector<double>(p.dscore.size(), 0.0));
  CHECK(p.penalty == std::vector<double>(p.dscore.size(), 0.0));
  CHECK(p.loss[0] == 0);
}

TEMPLATE_TEST_CASE("a batch without grids has no pointers and no penalty", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p;
  p.grids = test::ragged_grids({});
  p.members.clear();
  p.pairs = 0;
  for (auto* v : {&p.score, &p.powers, &p.d_heads, &p.d_links, &p.dscore, &p.penalty}) v->clear();
  p.run(ex);
  CHECK(p.loss[0] == 0);
}

TEST_CASE("pointers refuse shapes and options that do not fit, with a sentence") {
  reference::backend ex;
  cpu::backend threads(2);
  problem<double> p;
  auto const score = make_vec<double const>(p.score.data(), p.pairs);
  auto const refused = [&](list_pointer_options const& o, vec<double const> of, index_t rows, std::string const& why) {
    CHECK_THROWS_WITH(
        list_pointers(ex, p.grids.batch(), p.counts(), o, of, make_matrix(p.powers.data(), rows, p.pairs, p.pairs)),
        test::contains(why));
  };
  refused({}, make_vec<double const>(p.score.data(), p.pairs - 1), 4, "list_pointers: score is (");
  refused({}, score, 3, "list_pointers: powers is (3, ");
  refused({.squarings = -1}, score, 0, "squarings are -1, expected 0 to 30");
  refused({.distance = std::nan("")}, score, 4, "expected a finite number");
  p.members[1] = 5;
  CHECK_THROWS_WITH(p.point(ex), test::contains("grid 1 has 5 members, expected 0 to 4, its columns"));
  CHECK_THROWS_WITH(p.point(threads), test::contains("grid 1 has 5 members, expected 0 to 4, its columns"));
  p.members[1] = -1;
  CHECK_THROWS_WITH(p.punish(ex), test::contains("grid 1 has -1 members"));
  p.members.pop_back();
  p.grids.dims.graphs -= 1;
  CHECK_THROWS_WITH(list_pointers(ex, problem<double>().grids.batch(), p.counts(), {}, score, p.rows(p.powers)),
                    test::contains("members is (5), expected (6)"));
  p.d_links.pop_back();
  CHECK_THROWS_WITH(problem<double>().point_back(ex, p.d_links), test::contains("list_pointers_grad: d_links is ("));
}

}  // namespace ops_list_pointers_tests
