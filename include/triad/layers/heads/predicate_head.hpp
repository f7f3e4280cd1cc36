// A head that labels pairs of nodes through predicates.  Every token may be a predicate with three roles: the first
// node of an edge, the second node of an edge, and a node with a label.
// SPDX-License-Identifier: Apache-2.0
//
//   p_t   = sigmoid(P y(t, t) + c)        (tokens, R): whether token t is a predicate for the label of an edge
//   q_t   = sigmoid(Q y(t, t) + e)        (tokens, U): whether token t is a predicate for the label of a node
//   rho   = sigmoid(W y(t, a) + f)        (cells, 3): whether the queried node a has each of the three roles at token t
//   P(a, r, b) = 1 - prod over t of (1 - p_t[r] rho_1[t, a] rho_2[t, b])
//   P(a, u)    = 1 - prod over t of (1 - q_t[u] rho_3[t, a])
//   P(r in the graph) = 1 - prod over t of (1 - p_t[r])
//   graph(g)   = S y(k, k) + h, a softmax;   k: the first slot, or the first token without slots
//
// So one word can make many edges, and many words can make one edge.  Which token makes an edge is not in the data: it
// is latent, and explain reads it from the values that forward() saves.  The scores are log(1 - P) (ops/noisy_or.hpp).
//
// With pointers, the roles of a node are those of the head of the list to which the node belongs:
//
//   rho'[t, a] = sum over c of H(a, c) rho[t, c]
//
// The pointers read the words before a node (layers/heads/word_pointers.hpp), or the states of an inner layer
// (layers/heads/role_pointers.hpp).
//
// Slots have one of two forms.  slot_form::nodes gives a slot roles of its own, from the states of the edges (t, slot).
// slot_form::anchors gives a slot the roles of a token, which may be any token:
//
//   rho'[t, a] = sum over tokens c of mix(a, c) rho[t, c]        layers/heads/slot_anchors.hpp
//
// mix has the pointers and the anchors: a slot that is anchored at a member of a list has the roles of the list's first
// member.  So rho is computed for all pairs of tokens.
//
// With implied_labels, an edge r of node a removes label u of a with a learned probability g(r, u):
//
//   g(r, u)  = sigmoid(16 implied(r, u))
//   P'(a, u) = P(a, u) prod over r of (1 - g(r, u) E(a, r))      ops/implied_labels.hpp
//
// E(a, r) is the probability that an edge r leaves a.  E is a constant of the gradient.  Adam moves each parameter by
// about the learning rate in an update.  With the factor 16, g can go from 0 to 1 in some hundred updates.  Without it,
// states explain the missing labels of the training set before g does, and g learns nothing.
//
// The model gives the states y in the order of sentence_graph_batch::role_edges, or of anchor_edges.
#pragma once

#include "triad/layers/heads/graph_loss.hpp"
#include "triad/layers/heads/role_pointers.hpp"
#include "triad/layers/heads/slot_anchors.hpp"
#include "triad/layers/heads/word_pointers.hpp"
#include "triad/layers/linear.hpp"
#include "triad/ops/implied_labels.hpp"
#include "triad/ops/mix_columns.hpp"
#include "triad/ops/noisy_or.hpp"

namespace triad {

/// Where a slot takes its roles from.  nodes: from the states of its own edges.  anchors: from a token.
enum class slot_form { nodes, anchors };

struct predicate_head_options {
  graph_label_counts labels{};
  bool bag = true;             // also computes the probabilities that a graph has each label of edges
  index_t pointer_words = 0;   // the number of words that pointers of lists read; 0: they read no words
  index_t pointers_after = 0;  // the layer whose states pointers of lists read, if they read no words; 0: no layer
  list_pointer_options lists{};
  slot_form slots = slot_form::nodes;
  bool implied_labels = false;  // edges remove labels of their first node
};

template <class T, index_t D = dyn>
struct predicate_head {
  using value_type = T;
  using states = tensor<T, dyn, D>;  // (read, d): the edges of read()
  using output = graph_scores<T>;
  using map = linear<T, D, dyn>;
  using values = tensor<T, dyn, dyn>;
  static constexpr probability_form probabilities = probability_form::log_misses;
  static constexpr index_t roles = 3;
  static constexpr double implied_factor = 16;  // of the parameters `implied` in their logits

  [[no_unique_address]] extents<D> shape;
  predicate_head_options options;

  constexpr index_t width() const { return shape.extent(0); }
  constexpr graph_label_counts const& label_counts() const { return options.labels; }
  constexpr bool by_words() const { return options.pointer_words > 0; }
  constexpr bool by_states() const { return !by_words() && options.pointers_after > 0; }
  constexpr bool points() const { return by_words() || by_states(); }
  constexpr bool has_anchors() const { return options.slots == slot_form::anchors; }
  constexpr bool implies() const { return options.implied_labels; }
  constexpr map to(index_t count) const { return {extents<D, dyn>(width(), count)}; }
  constexpr role_pointers<T, D> pointers() const { return {shape, options.lists}; }
  constexpr word_pointers<T, D> pointers_by_words() const { return {shape, options.pointer_words, options.lists}; }
  constexpr slot_anchors<T, D> anchoring() const { return {shape}; }
  /// The edges whose states the head reads, and their number.
  vec<index_t const> read(sentence_graph_batch<T> const& in) const {
    return has_anchors() ? in.anchor_edges : in.role_edges;
  }
  constexpr index_t count(sentence_graph_dims const& dims) const {
    return has_anchors() ? dims.read_by_anchors() : dims.read_by_roles();
  }
  static constexpr bool has_inner = true;
  /// The layer whose states point() reads; 0: none.
  constexpr index_t inner() const { return by_states() ? options.pointers_after : 0; }

  template <class S>
  struct fields {
    fields_of<map, S> predicate, label, role, graph;
    fields_of<role_pointers<T, D>, S> pointers;           // without memory if no pointers read states
    fields_of<word_pointers<T, D>, S> pointers_by_words;  // without memory if no pointers read words
    fields_of<slot_anchors<T, D>, S> anchors;             // without memory if the head has no anchors
    bool by_states, by_words, has_anchors;
    tensor<S, dyn, dyn> implied;  // (R, U): logits / 16; without memory if edges imply no labels
    bool implies;
    template <class F>
    constexpr void each(F&& f) {
      f("predicate", predicate);
      f("label", label);
      f("role", role);
      f("graph", graph);
      if (by_states) f("pointers", pointers);
      if (by_words) f("pointers", pointers_by_words);
      if (has_anchors) f("anchors", anchors);
      if (implies) f("implied", implied);
    }
  };
  struct saved {
    values predicate, label;  // (tokens, R), (tokens, U): p and q
    values role, mixed;       // rho (cells or cells of token_grid, 3) and rho' (cells, 3)
    typename role_pointers<T, D>::saved pointers;
    typename word_pointers<T, D>::saved pointers_by_words;
    typename slot_anchors<T, D>::saved anchors;
    values implied, leaving, of_label, of_implied;  // of implied_labels: p (R, U), E, dx'/dx and dx'/dy
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const map_to = [&](index_t count) { return plan<S>(to(count), place); };
    auto const& z = options.labels;
    return {map_to(z.edge),
            map_to(z.node),
            map_to(roles),
            map_to(z.graph),
            plan<S>(pointers(), place, by_states()),
            plan<S>(pointers_by_words(), place, by_words()),
            plan<S>(anchoring(), place, has_anchors()),
            by_states(),
            by_words(),
            has_anchors(),
            place.make<tensor<S, dyn, dyn>>(implies() ? z.edge : 0, implies() ? z.node : 0),
            implies()};
  }
  saved plan_saved(arena& place, sentence_graph_dims const& dims, keep kept = keep::everything) const {
    auto const& z = dims.grid;
    auto const make = [&](index_t rows, index_t columns) { return place.make<values>(rows, columns); };
    index_t const edges = implies() ? options.labels.edge : 0, labels = implies() ? options.labels.node : 0;
    return {make(z.rows, options.labels.edge),
            make(z.rows, options.labels.node),
            make(role_grid(dims).cells, roles),
            make(mixes() ? z.cells : 0, roles),
            pointers().plan_saved(place, by_states() ? z : grid_dims{}, kept),
            pointers_by_words().plan_saved(place, by_words() ? z : grid_dims{}, kept),
            anchoring().plan_saved(place, has_anchors() ? dims : sentence_graph_dims{}, kept),
            make(edges, labels),
            make(z.columns, edges),
            make(z.columns, labels),
            make(z.columns, labels)};
  }
  output plan_output(arena& place, sentence_graph_dims const& dims) const {
    auto const& z = dims.grid;
    auto const make = [&](index_t rows, index_t columns) { return place.make<values>(rows, columns); };
    return {make(z.pairs, options.labels.edge), make(z.columns, options.labels.node),
            make(z.graphs, options.labels.graph), make(options.bag ? z.graphs : 0, options.labels.edge),
            place.make<vec<T>>(points() ? z.pairs : 0)};
  }

  /// Computes the pointers from the states x of all edges after layer inner().  Call it before forward().
  template <backend Ex>
  void point(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> x,
             saved const& s) const {
    pointers().forward(ex, c, w.pointers, in, x, s.pointers);
  }

  /// Overwrites the scores and s.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> y,
               saved const& s, output const& scores) const {
    auto const& z = in.grid.dims;
    index_t const cells = role_grid(in.dims()).cells, graphs = count(in.dims()) - z.graphs;
    auto const probabilities_of = [&](auto const& from, index_t first, index_t rows, values p) {
      if (p.extent(1) == 0) return;
      to(p.extent(1)).forward(ex, c, from, rows_of(y, first, rows), {}, p);
      transform(ex, sigmoid{}, p, p);
    };
    if (by_words()) pointers_by_words().forward(ex, c, w.pointers_by_words, in, s.pointers_by_words);
    probabilities_of(w.role, 0, cells, s.role);
    probabilities_of(w.predicate, cells, z.rows, s.predicate);
    probabilities_of(w.label, cells, z.rows, s.label);
    if (scores.graph.extent(1) > 0)
      to(scores.graph.extent(1)).forward(ex, c, w.graph, rows_of(y, graphs, z.graphs), {}, scores.graph);
    if (has_anchors())
      anchoring().forward(ex, c, w.anchors, in, rows_of(y, cells + z.rows, graphs - cells - z.rows), heads(s),
                          s.anchors);
    if (mixes()) {
      mixture const m(*this, in, s);
      mix_columns(ex, m.from, in.grid, m.begin, m.weights, as_matrix(read_only(s.role)), as_matrix(s.mixed));
    }
    if (points()) transform(ex, unchanged{}, links(s), scores.pointers);
    auto const p = matrix<T const>(as_matrix(s.predicate));
    noisy_or(ex, in.grid, p, ends_of(taken(s)), as_matrix(scores.edge));
    if (scores.node.extent(1) > 0)
      noisy_or(ex, in.grid, matrix<T const>(as_matrix(s.label)), third_of(taken(s)), as_matrix(scores.node));
    if (implies()) {
      transform(ex, scale_by<double>{implied_factor}, w.implied, s.implied);
      transform(ex, sigmoid{}, s.implied, s.implied);
      implied_labels(ex, in.grid, matrix<T const>(as_matrix(scores.edge)), matrix<T const>(as_matrix(scores.node)),
                     matrix<T const>(as_matrix(s.implied)), as_matrix(s.leaving), as_matrix(s.of_label),
                     as_matrix(s.of_implied), as_matrix(scores.node));
    }
    if (scores.bag.extent(0) > 0) noisy_or(ex, in.grid, p, no_matrix<T const>(), as_matrix(scores.bag));
  }

  /// Overwrites dy.  If pointers read states, also overwrites dheads (pairs) with the gradient of H, which add_inner()
  /// takes.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, const_view<states> y,
                saved const& s, output const& d, states dy, vec<T> dheads, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    if (by_words()) dheads = scratch.make<vec<T>>(in.grid.dims.pairs);
    auto const& z = in.grid.dims;
    index_t const cells = role_grid(in.dims()).cells, graphs = count(in.dims()) - z.graphs;
    auto const make = [&](index_t rows, index_t columns) { return scratch.make<values>(rows, columns); };
    auto const dp = make(z.rows, options.labels.edge), dq = make(z.rows, options.labels.node),
               dtaken = make(z.cells, roles), drole = mixes() ? make(cells, roles) : dtaken;
    auto const p = matrix<T const>(as_matrix(s.predicate));

    auto dnode = d.node;
    if (implies()) {
      dnode = make(z.columns, options.labels.node);
      auto const dimplied = make(s.implied.extent(0), s.implied.extent(1));
      implied_labels_grad(ex, in.grid, matrix<T const>(as_matrix(s.implied)), matrix<T const>(as_matrix(s.leaving)),
                          matrix<T const>(as_matrix(s.of_label)), matrix<T const>(as_matrix(s.of_implied)),
                          matrix<T const>(as_matrix(d.node)), as_matrix(dnode), as_matrix(dimplied));
      transform(ex, sigmoid_grad{}, s.implied, dimplied, dimplied);
      transform(ex, scale_by<double>{implied_factor}, dimplied, dimplied);
      transform(ex, plus{}, gradient.implied, dimplied, gradient.implied);
    }
    if (d.node.extent(1) > 0)
      noisy_or_grad(ex, in.grid, matrix<T const>(as_matrix(s.label)), third_of(taken(s)),
                    matrix<T const>(as_matrix(dnode)), as_matrix(dq), column_block(dtaken, 2, 1));
    else
      fill(ex, T(0), dtaken);
    noisy_or_grad(ex, in.grid, p, ends_of(taken(s)), matrix<T const>(as_matrix(d.edge)), as_matrix(dp),
                  column_block(dtaken, 0, 2));
    if (d.bag.extent(0) > 0) {
      auto const more = make(z.rows, options.labels.edge);
      noisy_or_grad(ex, in.grid, p, no_matrix<T const>(), matrix<T const>(as_matrix(d.bag)), as_matrix(more),
                    no_matrix<T>());
      transform(ex, plus{}, dp, more, dp);
    }
    if (mixes()) {
      mixture const m(*this, in, s);
      auto const dweights = has_anchors() ? scratch.make<vec<T>>(z.cells) : dheads;
      mix_columns_grad(ex, m.from, in.grid, m.begin, m.weights, as_matrix(read_only(s.role)),
                       as_matrix(read_only(dtaken)), dweights, as_matrix(drole));
      index_t const first = cells + z.rows, rows = graphs - first;
      if (has_anchors())
        anchoring().backward(ex, c, w.anchors, in, rows_of(y, first, rows), heads(s), s.anchors, vec<T const>(dweights),
                             dheads, rows_of(dy, first, rows), gradient.anchors);
    }
    if (by_words())
      pointers_by_words().backward(ex, c, w.pointers_by_words, in, s.pointers_by_words, vec<T const>(dheads),
                                   vec<T const>(d.pointers), gradient.pointers_by_words);

    auto const part = [&](auto const& from, index_t first, index_t rows, values probability, values dprobability,
                          auto const& sum, epilogue<T> const& after) {
      if (probability.extent(1) == 0) return;
      transform(ex, sigmoid_grad{}, probability, dprobability, dprobability);
      to(probability.extent(1))
          .backward(ex, c, from, rows_of(y, first, rows), {}, dprobability, rows_of(dy, first, rows), sum, after);
    };
    auto const of_tokens = rows_of(dy, cells, z.rows), of_graphs = rows_of(dy, graphs, z.graphs);
    part(w.role, 0, cells, s.role, drole, gradient.role, {});
    part(w.predicate, cells, z.rows, s.predicate, dp, gradient.predicate, {});
    part(w.label, cells, z.rows, s.label, dq, gradient.label, {.residual = as_matrix(read_only(of_tokens))});
    if (d.graph.extent(1) > 0)
      to(d.graph.extent(1))
          .backward(ex, c, w.graph, rows_of(y, graphs, z.graphs), {}, d.graph, of_graphs, gradient.graph);
    else
      fill(ex, T(0), of_graphs);
  }
  /// Adds to dx, the gradient of the states that point() read.
  template <backend Ex>
  void add_inner(Ex& ex, call const& c, fields<T const> w, sentence_graph_batch<T> const& in, saved const& s,
                 output const& d, vec<T const> dheads, states dx, fields<T> gradient) const {
    pointers().backward(ex, c, w.pointers, in, s.pointers, dheads, vec<T const>(d.pointers), dx, gradient.pointers);
  }

  /// The probabilities H of the heads of lists (pairs), or (0) without pointers.  Call forward() first.
  vec<T const> heads(saved const& s) const {
    if (by_words()) return pointers_by_words().heads(s.pointers_by_words);
    return by_states() ? vec<T const>(pointers().heads(s.pointers)) : vec<T const>(nullptr, index_t{0});
  }

 private:
  /// The weights with which queried nodes take over the roles of the columns of `from`.
  struct mixture {
    grid_batch from;
    vec<index_t const> begin;
    vec<T const> weights;

    mixture(predicate_head const& head, sentence_graph_batch<T> const& in, saved const& s)
        : from(head.has_anchors() ? in.token_grid : in.grid),
          begin(head.has_anchors() ? in.grid.cell_begin : in.grid.pair_begin),
          weights(head.has_anchors() ? vec<T const>(s.anchors.mix) : head.heads(s)) {}
  };
  constexpr bool mixes() const { return points() || has_anchors(); }
  /// The sizes of the grid of rho.
  constexpr grid_dims role_grid(sentence_graph_dims const& dims) const {
    return has_anchors() ? dims.token_grid : dims.grid;
  }
  /// The probabilities L that nodes point to each other (pairs).
  vec<T const> links(saved const& s) const {
    return by_words() ? pointers_by_words().pointers(s.pointers_by_words) : pointers().pointers(s.pointers);
  }
  /// The roles after pointers and anchors: rho' or rho.
  matrix<T const> taken(saved const& s) const { return as_matrix(read_only(mixes() ? s.mixed : s.role)); }
  static matrix<T const> ends_of(matrix<T const> role) { return column_block(role, 0, 2); }
  static matrix<T const> third_of(matrix<T const> role) { return column_block(role, 2, 1); }
};

}  // namespace triad
