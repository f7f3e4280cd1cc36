// Tests anchors of slots: their definition, with and without heads of lists, and gradients. Every backend must equal
// the reference.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/anchors.hpp"

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/cpu/anchors.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_anchors_tests {

using namespace triad;
using test::WithinAbs;

// Sentences with members and slots, without slots, without members, without nodes, and with more tokens than a warp has
// lanes.
template <class T>
struct problem {
  test::ragged_grids nodes{{{5, 4}, {3, 2}, {4, 3}, {2, 0}, {40, 9}}}, slots{{{2, 5}, {0, 3}, {3, 4}, {0, 2}, {4, 40}}};
  std::vector<index_t> members{2, 2, 0, 0, 5};
  std::vector<index_t> token{1, 4, -9, -9, 2, 0, -9, -9, -9, 3, 17, 31, 32, 39, -9, -9, -9, -9};
  bool lists;
  std::vector<T> score, none, heads, dmix, anchor, absent, mix, dscore, dnone, d_heads;

  explicit problem(bool with_heads)
      : lists(with_heads),
        score(test::random_values<T>(slots.dims.cells, 1, 2)),
        none(test::random_values<T>(slots.dims.rows, 2, 2)),
        heads(test::random_values<T>(with_heads ? nodes.dims.pairs : 0, 3)),
        dmix(test::random_values<T>(nodes.dims.cells, 4)),
        anchor(score.size(), T(99)),
        absent(none.size(), T(99)),
        mix(dmix.size(), T(99)),
        dscore(score.size(), T(99)),
        dnone(none.size(), T(99)),
        d_heads(heads.size(), T(99)) {}

  anchor_grids grids() const {
    return {nodes.batch(), slots.batch(), make_vec(members.data(), nodes.dims.graphs),
            make_vec(token.data(), nodes.dims.columns)};
  }
  static vec<T const> in(std::vector<T> const& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); }
  static vec<T> out(std::vector<T>& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); }

  template <class Ex>
  void forward(Ex& ex) {
    anchors(ex, grids(), in(score), in(none), in(heads), out(anchor), out(absent), out(mix));
  }
  template <class Ex>
  void backward(Ex& ex) {
    anchors_grad(ex, grids(), in(anchor), in(absent), in(heads), in(dmix), out(dscore), out(dnone), out(d_heads));
  }
  template <class Ex>
  void run(Ex&& ex) {
    forward(ex);
    backward(ex);
  }
};

TEMPLATE_TEST_CASE("the weights of a node are its token or its anchors, and lists lead to their heads", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (bool lists : {false, true}) {
    CAPTURE(lists);
    problem<double> p(lists);
    p.forward(ex);
    for (std::size_t g = 0; g < p.members.size(); ++g) {
      index_t const n = p.nodes.rows[g], m = p.nodes.columns[g], e = p.members[g];
      auto const token = [&](index_t i) { return p.token[static_cast<std::size_t>(p.nodes.column_begin[g] + i)]; };
      auto const at = [](index_t k) { return static_cast<std::size_t>(k); };
      // The roles that a token has after lists are resolved, as weights of all tokens.
      std::vector<std::vector<double>> roles(at(n), std::vector<double>(at(n), 0.0));
      for (index_t c = 0; c < n; ++c) roles[at(c)][at(c)] = 1;
      for (index_t i = 0; lists && i < e; ++i) {
        roles[at(token(i))][at(token(i))] = 0;
        for (index_t j = 0; j < e; ++j)
          roles[at(token(i))][at(token(j))] = p.heads[at(p.nodes.pair_begin[g] + i * m + j)];
      }
      for (index_t a = 0; a < m; ++a) {
        std::vector<double> own(at(n), 0.0);  // whose roles the node takes over
        if (a < e) {
          own[at(token(a))] = 1;
        } else {
          index_t const k = a - e, first = p.slots.cell_begin[g] + k * n;
          double const stays_away = std::exp(p.none[at(p.slots.row_begin[g] + k)]);
          double total = stays_away;
          for (index_t c = 0; c < n; ++c) total += own[at(c)] = std::exp(p.score[at(first + c)]);
          for (auto& w : own) w /= total;
          CAPTURE(g, k);
          CHECK_THAT(p.absent[at(p.slots.row_begin[g] + k)], WithinAbs(stays_away / total, 1e-14));
          for (index_t c = 0; c < n; ++c) CHECK_THAT(p.anchor[at(first + c)], WithinAbs(own[at(c)], 1e-14));
        }
        for (index_t c = 0; c < n; ++c) {
          double expected = 0;
          for (index_t via = 0; via < n; ++via) expected += own[at(via)] * roles[at(via)][at(c)];
          CAPTURE(g, a, c);
          CHECK_THAT(p.mix[at(p.nodes.cell_begin[g] + a * n + c)], WithinAbs(expected, 1e-14));
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("scores of anchors and heads of lists have the gradient of the weights", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  for (bool lists : {false, true}) {
    CAPTURE(lists);
    problem<double> p(lists);
    auto const take = [&](variables const& at) {
      p.score = at[0].values, p.none = at[1].values;
      if (lists) p.heads = at[2].values;
      p.forward(ex);
    };
    variables point{{"score", p.score}, {"none", p.none}};
    if (lists) point.push_back({"heads", p.heads});
    CHECK_GRADIENT(gradient_check(
        point,
        [&](variables const& at) {
          take(at);
          double sum = 0;
          for (std::size_t k = 0; k < p.mix.size(); ++k) sum += p.mix[k] * p.dmix[k];
          return sum;
        },
        [&](variables const& at, variables& g) {
          take(at);
          p.backward(ex);
          g[0].values = p.dscore, g[1].values = p.dnone;
          if (lists) g[2].values = p.d_heads;
        },
        {.directions = 4, .elements = 40}));
  }
}

TEMPLATE_TEST_CASE("anchors on every backend are those of the reference", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  double const close = std::is_same_v<T, float> ? 4e-6 : 1e-14;
  for (bool lists : {false, true}) {
    CAPTURE(lists);
    problem<double> exact(lists);
    problem<T> found(lists);
    exact.run(reference::backend());
    found.run(typename TestType::backend());
    auto const compare = [&](std::vector<T> const& ours, std::vector<double> const& right) {
      REQUIRE(ours.size() == right.size());
      for (std::size_t k = 0; k < right.size(); ++k)
        CHECK_THAT(static_cast<double>(ours[k]), WithinAbs(right[k], close));
    };
    compare(found.anchor, exact.anchor);
    compare(found.absent, exact.absent);
    compare(found.mix, exact.mix);
    compare(found.dscore, exact.dscore);
    compare(found.dnone, exact.dnone);
    compare(found.d_heads, exact.d_heads);
  }
}

TEMPLATE_TEST_CASE("anchors on the cpu have the same bits for any number of threads", "", float, double) {
  problem<TestType> one(true), three(true);
  one.run(cpu::backend(1));
  three.run(cpu::backend(3));
  CHECK(one.mix == three.mix);
  CHECK(one.absent == three.absent);
  CHECK(one.dscore == three.dscore);
  CHECK(one.dnone == three.dnone);
  CHECK(one.d_heads == three.d_heads);
}

TEMPLATE_TEST_CASE("a batch without sentences has no anchors", "", TRIAD_TEST_BACKENDS) {
  problem<double> p(false);
  p.nodes = p.slots = test::ragged_grids({});
  p.members.clear();
  for (auto* v : {&p.score, &p.none, &p.dmix, &p.anchor, &p.absent, &p.mix, &p.dscore, &p.dnone}) v->clear();
  CHECK_NOTHROW(p.run(TestType()));
}

TEST_CASE("anchors refuse sizes that do not fit, with a sentence") {
  auto const refused = [](auto change, std::string const& why) {
    problem<double> p(true);
    change(p);
    CHECK_THROWS_WITH(p.run(reference::backend()), test::contains(why));
    CHECK_THROWS_WITH(p.run(cpu::backend(2)), test::contains(why));
  };
  refused([](auto& p) { p.score.pop_back(); }, "anchors: score is (");
  refused([](auto& p) { p.none.pop_back(); }, "anchors: none is (8), expected (9)");
  refused([](auto& p) { p.heads.pop_back(); }, "anchors: heads is (");
  refused([](auto& p) { p.mix.pop_back(); }, "anchors: mix is (");
  refused([](auto& p) { p.d_heads.pop_back(); }, "anchors_grad: d_heads");
  refused([](auto& p) { p.dnone.pop_back(); }, "anchors_grad: dnone is (8), expected (9)");
  refused([](auto& p) { p.slots.dims.graphs = 4; }, "4 sentences in `slots`, expected 5");
  refused([](auto& p) { p.members[1] = 3; }, "sentence 1 has 3 members, expected 0 to 2, its nodes");
  refused([](auto& p) { p.members[1] = 1; }, "sentence 1 has 0 slots, expected 1, its nodes without its members");
  refused([](auto& p) { p.slots.columns[2] = 5; }, "sentence 2 has 5 tokens in `slots`, expected 4");
  refused([](auto& p) { p.token[0] = 5; }, "sentence 0 has the member 5, expected a token below 5");
}

}  // namespace ops_anchors_tests
