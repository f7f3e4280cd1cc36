// Tests the head that labels graphs through predicates: probabilities against loops over tokens, and the gradient.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/heads/predicate_head.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/heads/graph_sentences.hpp"
#include "tests/layers/heads/scores_of_graphs.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_predicate_head_tests {

using namespace triad;
using head_type = predicate_head<double>;
using read = tensor<double const, dyn, dyn>;
using states = tensor<double, dyn, dyn>;

constexpr index_t d = 3;

struct run {
  test::graph_sentences sentences;
  sentence_graph_batch<double> in = sentences.loader.upload().first;
  head_type head;
  index_t rows = head.count(in.dims()), all = in.graphs.dims.rows, pairs = in.grid.dims.pairs;

  // One slot has no other slot, so two slots show whether an anchor is that of its own slot.
  explicit run(predicate_head_options o)
      : sentences(o.labels, o.slots == slot_form::anchors ? 2 : 1), head{extents<dyn>(d), o} {}

  template <class Ex>
  void forward(Ex& ex, call const& c, head_type::fields<double const> w, read x, read y, head_type::saved const& s,
               graph_scores<double> const& scores) const {
    if (head.inner() > 0) head.point(ex, c, w, in, x, s);
    head.forward(ex, c, w, in, y, s, scores);
  }
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Removes labels that edges imply from scores of a head without implied_labels.  `edges` are scores (pairs, R).
void remove_implied(run const& r, head_type::fields<double const> w, std::vector<double> const& edges,
                    graph_scores<double> const& scores) {
  auto const& z = r.in.grid;
  index_t const relations = w.implied.extent(0);
  for (index_t g = 0; g < z.dims.graphs; ++g)
    for (index_t a = 0; a < z.columns(g); ++a)
      for (index_t u = 0; u < w.implied.extent(1); ++u) {
        double& score = scores.node(z.column_begin(g) + a, u);
        double label = 1 - std::exp(score);
        for (index_t k = 0; k < relations; ++k) {
          double none = 1;
          for (index_t b = 0; b < z.columns(g); ++b)
            none *= std::exp(edges[static_cast<std::size_t>((z.pair_begin(g) + a * z.columns(g) + b) * relations + k)]);
          label *= 1 - (1 - 1e-6) * logistic(16 * w.implied(k, u)) * (1 - none);
        }
        score = std::log(1 - label);
      }
}

TEST_CASE("an edge, a label and a bag have the probability that some token is their predicate") {
  reference::backend ex;
  struct pointers {
    index_t words, after;
  };
  for (auto const& [pointing, form] : {std::pair<pointers, slot_form>{{0, 0}, slot_form::nodes},
                                       {{0, 1}, slot_form::nodes},
                                       {{5, 0}, slot_form::nodes},
                                       {{0, 0}, slot_form::anchors},
                                       {{0, 1}, slot_form::anchors},
                                       {{5, 0}, slot_form::anchors}}) {
    bool const anchored = form == slot_form::anchors, points = pointing.words + pointing.after > 0;
    CAPTURE(pointing.words, pointing.after, anchored);
    run r({.labels = {2, 2, 3},
           .bag = true,
           .pointer_words = pointing.words,
           .pointers_after = pointing.after,
           .lists = {.squarings = 1},
           .slots = form});
    parameter_set<head_type, reference::backend> p(r.head, holding::values);
    auto const values = test::random_values(p.flat_values().extent(0), 4);
    std::copy(values.begin(), values.end(), p.flat_values().data_handle());
    auto const y = test::random_values(r.rows * d, 5, 2), x = test::random_values(r.all * d, 6, 2);
    test::scores_of_graphs<head_type> found(r.head, r.in.dims());
    test::spoiled_memory const memory([&](arena& place) { return r.head.plan_saved(place, r.in.dims()); });
    auto place = memory.place();
    auto const saved = r.head.plan_saved(place, r.in.dims());
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      r.forward(backend, c, p.values(), read(x.data(), r.all, d), read(y.data(), r.rows, d), saved, found.scores);
    });
    auto const w = p.values();
    auto const map = [&](auto const& linear, index_t row, index_t column) {
      double sum = linear.bias(column);
      for (index_t k = 0; k < d; ++k) sum += linear.weight(column, k) * y[static_cast<std::size_t>(row * d + k)];
      return sum;
    };
    auto const& z = r.in.grid;
    index_t const cells = anchored ? r.in.token_grid.dims.cells : z.dims.cells;
    constexpr double kappa = 1 - 1e-6;
    for (index_t g = 0; g < z.dims.graphs; ++g) {
      index_t const n = z.rows(g), m = z.columns(g);
      index_t const e = r.in.members(g), first_cell = anchored ? r.in.token_grid.cell_begin(g) : z.cell_begin(g);
      // The role of a member of the graph, after lists.  The column of a token is its number among the tokens or nodes.
      auto const listed = [&](index_t t, index_t a, index_t k) {
        auto const one = [&](index_t i) {
          index_t const c = anchored ? r.in.queried(z.column_begin(g) + i) : i;
          return logistic(map(w.role, first_cell + t * (anchored ? n : m) + c, k));
        };
        if (!points) return one(a);
        double sum = 0;
        for (index_t c = 0; c < (anchored ? e : m); ++c)
          sum += r.head.heads(saved)(z.pair_begin(g) + a * m + c) * one(c);
        return sum;
      };
      auto const role = [&](index_t t, index_t a, index_t k) {
        if (!anchored || a < e) return listed(t, a, k);
        double sum = 0;
        for (index_t c = 0; c < n; ++c) {
          index_t i = 0;
          while (i < e && r.in.queried(z.column_begin(g) + i) != c) ++i;
          double const one = i < e ? listed(t, i, k) : logistic(map(w.role, first_cell + t * n + c, k));
          sum += saved.anchors.anchor(r.in.slot_grid.cell_begin(g) + (a - e) * n + c) * one;
        }
        return sum;
      };
      auto const predicate = [&](auto const& linear, index_t t, index_t label) {
        return logistic(map(linear, cells + z.row_begin(g) + t, label));
      };
      for (index_t label = 0; label < 2; ++label) {
        double bag = 1;
        for (index_t t = 0; t < n; ++t) bag *= 1 - kappa * predicate(w.predicate, t, label);
        CHECK_THAT(found.scores.bag(g, label), test::WithinAbs(std::log(bag), 1e-12));
        for (index_t a = 0; a < m; ++a) {
          double none = 1;
          for (index_t t = 0; t < n; ++t) none *= 1 - kappa * predicate(w.label, t, label) * role(t, a, 2);
          CHECK_THAT(found.scores.node(z.column_begin(g) + a, label), test::WithinAbs(std::log(none), 1e-12));
          for (index_t b = 0; b < m; ++b) {
            double missed = 1;
            for (index_t t = 0; t < n; ++t)
              missed *= 1 - kappa * predicate(w.predicate, t, label) * role(t, a, 0) * role(t, b, 1);
            CHECK_THAT(found.scores.edge(z.pair_begin(g) + a * m + b, label), test::WithinAbs(std::log(missed), 1e-12));
          }
        }
      }
      for (index_t label = 0; label < 3; ++label)
        CHECK_THAT(found.scores.graph(g, label),
                   test::WithinAbs(map(w.graph, r.rows - z.dims.graphs + g, label), 1e-12));
    }
    CHECK(found.scores.pointers.extent(0) == (points ? r.pairs : 0));
  }
}

TEST_CASE("a head of predicates has the gradient of its scores, with and without its options") {
  for (auto const& options :
       {predicate_head_options{.labels = {2, 2, 3}, .bag = true, .pointers_after = 1},
        predicate_head_options{.labels = {2, 2, 3}, .bag = true, .pointer_words = 5},
        predicate_head_options{.labels = {2, 2, 3}, .bag = true},
        predicate_head_options{.labels = {2, 0, 0}, .bag = false},
        predicate_head_options{.labels = {2, 0, 0}, .bag = false, .pointers_after = 1},
        predicate_head_options{.labels = {2, 2, 3}, .slots = slot_form::anchors},
        predicate_head_options{.labels = {2, 0, 0}, .pointers_after = 1, .slots = slot_form::anchors},
        predicate_head_options{.labels = {2, 0, 0}, .pointer_words = 5, .slots = slot_form::anchors},
        predicate_head_options{.labels = {2, 3, 3}, .implied_labels = true},
        predicate_head_options{.labels = {2, 3, 0},
                               .bag = false,
                               .pointers_after = 1,
                               .slots = slot_form::anchors,
                               .implied_labels = true},
        predicate_head_options{.labels = {2, 0, 0}, .implied_labels = true}}) {
    CAPTURE(options.labels.node, options.pointer_words, options.pointers_after, options.slots, options.implied_labels);
    run r(options);
    auto without = options;
    without.implied_labels = false;
    run const plain(without);
    std::vector<double> edges;  // the scores of edges at the point where the gradient is computed
    test::scores_of_graphs<head_type> const dscores(r.head, r.in.dims(), 5);
    CHECK_GRADIENT(test::check_use(
        r.head, {{"x", test::random_values(r.all * d, 1)}, {"y", test::random_values(r.rows * d, 2)}},
        [&](auto& parameters, variables const& at, variables* g) {
          reference::backend ex;
          read const x(at[1].values.data(), r.all, d), y(at[2].values.data(), r.rows, d);
          test::scores_of_graphs<head_type> found(r.head, r.in.dims());
          test::spoiled_memory const memory([&](arena& place) { return r.head.plan_saved(place, r.in.dims()); });
          auto place = memory.place();
          auto const saved = r.head.plan_saved(place, r.in.dims());
          std::vector<double> dheads(static_cast<std::size_t>(r.pairs));
          test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
            auto const w = parameters.values();
            if (g == nullptr) {
              // The edges that remove labels are constants of the gradient.
              plain.forward(backend, c, w, x, y, saved, found.scores);
              if (r.head.implies()) remove_implied(r, w, edges, found.scores);
              return;
            }
            r.forward(backend, c, w, x, y, saved, found.scores);
            edges.assign(found.scores.edge.data_handle(), found.scores.edge.data_handle() + found.scores.edge.size());
            states const dx((*g)[1].values.data(), r.all, d), dy((*g)[2].values.data(), r.rows, d);
            fill(backend, 0.0, dx);
            r.head.backward(backend, c, parameters.values(), r.in, y, saved, dscores.scores, dy,
                            make_vec(dheads.data(), r.head.inner() > 0 ? r.pairs : 0), parameters.gradients());
            if (r.head.inner() > 0)
              r.head.add_inner(backend, c, parameters.values(), r.in, saved, dscores.scores,
                               make_vec<double const>(dheads.data(), r.pairs), dx, parameters.gradients());
          });
          return found.along(dscores);
        }));
  }
}

TEST_CASE("implied labels change the scores of labels alone") {
  reference::backend ex;
  run r({.labels = {3, 2, 3}, .pointers_after = 1, .lists = {.squarings = 1}, .implied_labels = true});
  run plain({.labels = {3, 2, 3}, .pointers_after = 1, .lists = {.squarings = 1}});
  parameter_set<head_type, reference::backend> p(r.head, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  auto const y = test::random_values(r.rows * d, 5, 2), x = test::random_values(r.all * d, 6, 2);
  auto const scores_of = [&](run const& one, auto const& found) {
    test::spoiled_memory const memory([&](arena& place) { return one.head.plan_saved(place, r.in.dims()); });
    auto place = memory.place();
    auto const saved = one.head.plan_saved(place, r.in.dims());
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      one.forward(backend, c, p.values(), read(x.data(), r.all, d), read(y.data(), r.rows, d), saved, found.scores);
    });
    std::vector<std::vector<double>> all;
    found.scores.each(
        [&](auto const& view) { all.emplace_back(view.data_handle(), view.data_handle() + view.size()); });
    return all;
  };
  test::scores_of_graphs<head_type> const found(r.head, r.in.dims()), without(plain.head, r.in.dims());
  auto const all = scores_of(r, found), unchanged = scores_of(plain, without);
  auto const labels = [](test::scores_of_graphs<head_type> const& s) {
    return std::vector<double>(s.scores.node.data_handle(), s.scores.node.data_handle() + s.scores.node.size());
  };
  auto const kept = labels(found), before = labels(without);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK((all[i] == unchanged[i]) == (all[i] != kept));
  // A score is log(1 - P), and each label has edges that make it less probable.
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] > before[i]);
  std::vector<double> const edges(found.scores.edge.data_handle(),
                                  found.scores.edge.data_handle() + found.scores.edge.size());
  remove_implied(r, p.values(), edges, without.scores);
  auto const expected = labels(without);
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK_THAT(kept[i], test::WithinAbs(expected[i], 1e-13));
}

TEST_CASE("implied labels take memory only if the head has them") {
  constexpr index_t relations = 5, labels = 7;
  graph_label_counts const counts{relations, labels, 3};
  run const plain({.labels = counts}), implying({.labels = counts, .implied_labels = true});
  auto const& z = plain.in.grid.dims;
  auto const bytes_of = [](run const& r) {
    return planned_bytes([&](arena& place) { (void)r.head.plan_saved(place, r.in.dims()); });
  };
  auto const numbers = [](index_t count) { return static_cast<std::size_t>(count) * sizeof(double); };
  // g, the outgoing edges of each node, and two derivatives of each label; each view begins at a cache line.
  std::size_t const added = numbers(relations * labels + z.columns * (relations + 2 * labels));
  CHECK(bytes_of(implying) >= bytes_of(plain) + added);
  CHECK(bytes_of(implying) <= bytes_of(plain) + added + 4 * (arena_slack + arena_alignment));
}

TEST_CASE("a head of predicates lists its parameters by name, those of its options only if it has them") {
  auto const plain = test::paths_of(head_type{extents<dyn>(d), {.labels = {2, 2, 3}}});
  CHECK(plain == std::vector<std::string>{"predicate.weight", "predicate.bias", "label.weight", "label.bias",
                                          "role.weight", "role.bias", "graph.weight", "graph.bias"});
  auto const pointing = test::paths_of(head_type{extents<dyn>(d), {.labels = {2, 2, 3}, .pointers_after = 2}});
  CHECK((pointing.size() == plain.size() + 10 && pointing.back() == "pointers.self_score.bias"));
  // Pointers that read words read no states.
  auto const by_words =
      test::paths_of(head_type{extents<dyn>(d), {.labels = {2, 2, 3}, .pointer_words = 5, .pointers_after = 2}});
  CHECK((by_words.size() == plain.size() + 5 && by_words[plain.size()] == "pointers.words"));
  auto const anchored = test::paths_of(head_type{extents<dyn>(d), {.labels = {2, 2, 3}, .slots = slot_form::anchors}});
  CHECK((anchored.size() == plain.size() + 4 && anchored[plain.size()] == "anchors.from_slot.weight"));
  auto const implying = test::paths_of(head_type{extents<dyn>(d), {.labels = {2, 2, 3}, .implied_labels = true}});
  CHECK((implying.size() == plain.size() + 1 && implying.back() == "implied"));
}

}  // namespace layers_predicate_head_tests
