// Tests that wrong uses of views, memory, batches, trees and operations are refused.
// SPDX-License-Identifier: Apache-2.0
#include "tests/misuse/misuse.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/layers/chain.hpp"
#include "triad/layers/dropout.hpp"
#include "triad/layers/edge_transformer_layer.hpp"
#include "triad/layers/fuse_attention.hpp"
#include "triad/layers/residual.hpp"
#include "triad/ops/adam.hpp"
#include "triad/ops/arc_cross_entropy.hpp"
#include "triad/ops/binary_cross_entropy.hpp"
#include "triad/ops/cross_entropy.hpp"
#include "triad/ops/head_bias.hpp"
#include "triad/ops/implied_labels.hpp"
#include "triad/ops/layer_norm.hpp"
#include "triad/ops/log_step.hpp"
#include "triad/ops/noisy_or.hpp"
#include "triad/ops/pair_product.hpp"
#include "triad/ops/pair_sum.hpp"
#include "triad/ops/reduce.hpp"
#include "triad/ops/softmax.hpp"
#include "triad/ops/tree_loss.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/schedule.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace misuse_uses_tests {

using namespace triad;
using test::expect_sentence;
using test::most_index;

struct misuse {
  char const* what;
  void (*run)();
  char const* part;
};
void expect_all(std::vector<misuse> const& table) {
  for (auto const& row : table) expect_sentence(row.what, row.run, row.part);
}

// Memory for views of any shape. It exists as long as the program runs.
double values[4096];
index_t numbers[4096];
matrix<double> m(index_t rows, index_t columns) { return make_matrix(values, rows, columns, columns); }
matrix<double const> cm(index_t rows, index_t columns) { return read_only(m(rows, columns)); }
tensor<double, dyn, dyn> t(index_t rows, index_t columns) { return tensor<double, dyn, dyn>(values, rows, columns); }
tensor<double const, dyn, dyn> ct(index_t rows, index_t columns) { return read_only(t(rows, columns)); }
vec<double> v(index_t size) { return make_vec(values, size); }
vec<double const> cv(index_t size) { return read_only(v(size)); }
vec<index_t const> n(index_t size) { return vec<index_t const>(numbers, size); }
reference::backend ex;
arena& scratch() {
  static buffer<> const memory(1 << 16);
  static arena place;
  return place = memory.place();
}
test::ragged const& two_graphs() {
  static test::ragged const all{{3, 2}};  // 5 nodes, 13 edges, 35 triangles
  return all;
}
graph_batch graphs() { return two_graphs().batch(); }
grid_batch grids() {
  static test::ragged_grids const all{{{3, 2}}};  // 3 rows, 2 columns, 6 cells, 4 pairs
  return all.batch();
}

void ask_labels(matrix<double const> x, index_t target_columns, index_t scales, index_t losses, matrix<double> dx) {
  static std::uint8_t const target[64] = {};
  binary_cross_entropy(ex, scratch(), probability_form::logits, x,
                       make_matrix(target, 3, target_columns, target_columns), cv(scales), v(losses), dx);
}

TEST_CASE("views and memory are used within their bounds, or it is said") {
  expect_all({
      {"rows past the end", [] { (void)row_block(m(3, 4), 2, 2); }, "2 from 2 on"},
      {"rows before the begin", [] { (void)row_block(m(3, 4), -1, 2); }, "-1"},
      {"fewer than no rows", [] { (void)row_block(m(3, 4), 0, -2); }, "-2"},
      {"rows that overflow", [] { (void)row_block(m(3, 4), 1, most_index); }, "row_block"},
      {"columns past the end", [] { (void)column_block(m(3, 4), 3, 2); }, "2 from 3 on"},
      {"columns before the begin", [] { (void)column_block(m(3, 4), -4, 2); }, "-4"},
      {"columns that overflow", [] { (void)column_block(m(3, 4), most_index, most_index); }, "column_block"},
      {"a negative view",
       [] {
         arena a;
         (void)a.make<vec<float>>(-1);
       },
       "-1"},
      {"2^62 values",
       [] {
         arena a;
         (void)a.make<vec<float>>(index_t{1} << 62);
       },
       "4611686018427387904"},
      {"2^32 x 2^30 values",
       [] {
         arena a;
         (void)a.make<tensor<double, dyn, dyn>>(index_t{1} << 32, 1 << 30);
       },
       "4294967296 x 1073741824"},
      {"a static size not kept",
       [] {
         arena a;
         (void)a.make<tensor<double, dyn, 4>>(3, 5);
       },
       "a size is 5, expected 4"},
      {"pieces that overflow",
       [] {
         arena a;
         (void)a.cut(1 << 20, index_t{1} << 60);
       },
       "1152921504606846976 pieces"},
      {"fewer than no pieces",
       [] {
         arena a;
         (void)a.cut(8, -3);
       },
       "-3"},
      {"more than there is",
       [] {
         buffer<> const b(256);
         auto a = b.place();
         (void)a.make<vec<double>>(100);
       },
       "more was asked for than was measured"},
      {"work in nothing",
       [] {
         buffer<> const b(0);
         auto a = b.place();
         (void)a.make<vec<double>>(1);
       },
       "of 0 are left"},
      {"a call without scratch", [] { (void)call{}.scratch->used(); }, "no scratch memory"},
      {"child 255", [] { (void)call{}.child(255); }, "child 255"},
      {"child -1", [] { (void)call{}.child(-1); }, "child -1"},
      {"nine levels",
       [] {
         call c;
         for (int i = 0; i < 9; ++i) c = c.child(0);
       },
       "eight levels"},
      {"a rate of 1", [] { (void)call{}.dropout(1); }, "below 1"},
      {"a rate of -1", [] { (void)call{}.dropout(-1); }, "-1"},
      {"threads -5", [] { cpu::backend b(-5); }, "-5"},
      {"threads 32768", [] { cpu::backend b(32768); }, "threads are 32768, expected 1 to 32767"},
  });
}

TEST_CASE("batches take what there is room for, or it is said") {
  static graph_dims const room{2, 50, 10, 250, 5};
  using graphs_of = graph_loader<reference::backend>;
  using pairs_of = pair_loader<reference::backend, double>;
  using edge_pairs_of = edge_pair_loader<reference::backend, double>;
  using trees_of = tree_loader<reference::backend, double>;
  expect_all({
      {"a graph of 2^32 nodes",
       [] {
         graphs_of l(room);
         l.add(index_t{1} << 32, 0, 1, 0);
       },
       "does not fit"},
      {"a graph of 2^21 nodes",
       [] {
         graphs_of l(room);
         l.add(1 << 21, 0, 1, 0);
       },
       "does not fit"},
      {"a graph of 2^63 - 1 nodes",
       [] {
         graphs_of l(room);
         l.add(most_index, 0, 1, 0);
       },
       "does not fit"},
      {"a graph without nodes",
       [] {
         graphs_of l(room);
         l.add(0, 0, 0, 0);
       },
       "does not fit"},
      {"a graph of -3 nodes",
       [] {
         graphs_of l(room);
         l.add(-3, 0, 0, 0);
       },
       "does not fit"},
      {"a third graph",
       [] {
         graphs_of l(room);
         for (int i = 0; i < 3; ++i) l.add(2, 0, 1, 0);
       },
       "does not fit"},
      {"a question past the end",
       [] {
         graphs_of l(room);
         l.add(3, 0, 3, 0);
       },
       "a question about nodes 0 and 3, expected nodes 0 to 2"},
      {"a question before the begin",
       [] {
         graphs_of l(room);
         l.add(3, -1, 0, 0);
       },
       "a question about nodes -1 and 0"},
      {"room for -1 graphs", [] { graphs_of l({-1, 50, 10, 250, 5}); }, "graphs is -1"},
      {"room for -1 edges", [] { graphs_of l({2, -1, 10, 250, 5}); }, "rows is -1"},
      {"room for 2^62 triangles", [] { graphs_of l({2, 50, 10, index_t{1} << 62, 5}); },
       "triangles is 4611686018427387904"},
      {"room for -1 pairs", [] { pairs_of l({-1, 9, 9, 5, 5}, 4, 0, 1); }, "pairs is -1"},
      {"room for -9 tokens", [] { pairs_of l({2, -9, 9, 5, 5}, 4, 0, 1); }, "source_rows is -9"},
      {"waves of width -4", [] { pairs_of l({2, 9, 9, 5, 5}, -4, 0, 1); }, "width is -4"},
      {"waves of 2^60 positions", [] { pairs_of l({2, 9, 9, index_t{1} << 60, 5}, 1 << 20, 0, 1); },
       "positions and width are 1152921504606846976 times 1048576"},
      {"edges of 2^60 positions", [] { edge_pairs_of l({2, room, room, 5}, {}, 1 << 20, 0, 1, {}, index_t{1} << 60); },
       "positions and width are 1152921504606846976 times 1048576"},
      {"no end", [] { pairs_of l({2, 9, 9, 5, 5}, 4, 0, -1); }, "begin_token is 0 and end_token is -1"},
      {"a source that is too long",
       [] {
         pairs_of l({2, 9, 9, 5, 5}, 4, 0, 1);
         l.add_source(std::vector<index_t>(5));
       },
       "does not fit"},
      {"edges of room -1", [] { edge_pairs_of l({-1, room, room, 5}, {}, 4, 0, 1); }, "-1"},
      {"edges of width 0", [] { edge_pairs_of l({2, room, room, 5}, {}, 0, 0, 1); }, "width is 0"},
      {"a loader of -1 trees", [] { trees_of l({tree_positions<>(2, 3), 2, 5, -1}); }, "batch is -1"},
      {"a loader of 0 symbols", [] { trees_of l({tree_positions<>(2, 3), 2, 0, 1}); }, "symbols is 0"},
      {"a loader of 2^31 steps", [] { trees_of l({tree_positions<>(2, 3), index_t{1} << 31, 5, 1}); },
       "steps is 2147483648"},
      {"a parent after the sentence",
       [] {
         dependency_loader<reference::backend, double> l(room, 4, 4);
         l.add(std::vector<attached_token>{{1, 0, 0}, {2, 7, 0}});
       },
       "expected a token of its sentence"},
  });
  graphs_of const l(room);
  CHECK_FALSE(l.has_room(index_t{1} << 32));
  CHECK_FALSE(l.has_room(most_index));
  pairs_of const p({2, 9, 9, 5, 5}, 4, 0, 1);
  CHECK_FALSE((p.has_room(most_index) || p.has_room(most_index, 1) || p.has_room(1, most_index) || p.has_room(-1, 1)));
  edge_pairs_of const e({2, room, room, 5}, {}, 4, 0, 1);
  CHECK_FALSE((e.has_room(most_index) || e.has_room(most_index, 1) || e.has_room(1, most_index) ||
               e.has_room(index_t{1} << 32, index_t{1} << 32)));
}

TEST_CASE("trees have the nodes that they have, or it is said") {
  static numbered_tree const none, leaf(1), three(1, {numbered_tree(2), numbered_tree(3)});
  expect_all({
      {"the subtree at 7 of 3", [] { (void)three.subtree(7); }, "node 7, expected 0 to 2"},
      {"the subtree at -2", [] { (void)three.subtree(-2); }, "node -2"},
      {"the first node of none", [] { (void)none.is_leaf(0); }, "node 0, expected none: the tree is empty"},
      {"the label of none", [] { (void)none.label(); }, "tree: node 0"},
      {"node 3 of 3", [] { (void)three[3]; }, "node 3"},
      {"node -1", [] { (void)three[-1]; }, "node -1"},
      {"node 2^63 - 1", [] { (void)three[most_index]; }, "expected 0 to 2"},
      {"a first child of none", [] { (void)none.first_child(0); }, "tree: node 0"},
      {"the next of no child", [] { (void)three.next_child(0, 9); }, "node 9"},
      {"a child of node 4", [] { (void)three.child(4, 0); }, "node 4"},
      {"two roots",
       [] {
         numbered_tree::builder b;
         b.open(1);
         b.close();
         b.open(2);
       },
       "a second root"},
      {"a close too many",
       [] {
         numbered_tree::builder b;
         b.close();
       },
       "no node open"},
      {"an open end",
       [] {
         numbered_tree::builder b;
         b.open(1);
         (void)b.finish();
       },
       "1 nodes open"},
      {"children backwards",
       [] {
         numbered_tree::builder b;
         b.open(1);
         b.open(2, 1);
         b.close();
         b.open(3, 0);
       },
       "children are opened in order"},
      {"branching 1", [] { tree_positions<>(1, 3); }, "branching is 1"},
      {"depth 0", [] { tree_positions<>(2, 0); }, "depth is 0"},
      {"depth 60", [] { tree_positions<>(2, 60); }, "depth of 60"},
      {"another static depth", [] { tree_positions<2, 4>(2, 3); }, "depth is 3, expected 4"},
  });
  CHECK(three.subtree(no_node).empty());
  CHECK(leaf.is_leaf(0));
}

TEST_CASE("operations are given shapes that fit, or it is said") {
  expect_all({
      {"inner extents", [] { matmul(ex, cm(2, 3), cm(4, 2), m(2, 2)); }, "matmul"},
      {"rows of the product", [] { matmul(ex, cm(2, 3), cm(3, 2), m(3, 2)); }, "matmul"},
      {"columns of the product", [] { matmul(ex, cm(2, 3), cm(3, 2), m(2, 4)); }, "matmul"},
      {"a short bias",
       [] {
         epilogue<double> e;
         e.bias = cv(1);
         matmul(ex, cm(2, 3), cm(3, 2), m(2, 2), e);
       },
       "bias"},
      {"a residual of another shape",
       [] {
         epilogue<double> e;
         e.residual = cm(3, 2);
         matmul(ex, cm(2, 3), cm(3, 2), m(2, 2), e);
       },
       "residual"},
      {"a rate of -1 after it",
       [] {
         epilogue<double> e;
         e.dropout.rate = -1;
         matmul(ex, cm(2, 3), cm(3, 2), m(2, 2), e);
       },
       "-1"},
      {"a norm after it",
       [] {
         epilogue<double> e;
         e.norm.y = m(2, 2);
         matmul(ex, cm(2, 3), cm(3, 2), m(2, 2), e);
       },
       "matmul_norm"},
      {"matmul_add", [] { matmul_add(ex, cm(2, 3), cm(2, 3), m(2, 3)); }, "matmul"},
      {"softmax", [] { softmax(ex, cm(2, 3), m(3, 2)); }, "softmax"},
      {"softmax_grad", [] { softmax_grad(ex, cm(2, 3), cm(2, 2), m(2, 3)); }, "softmax_grad"},
      {"layer_norm", [] { layer_norm(ex, cm(2, 3), cv(3), cv(3), 1e-5, m(2, 2), v(2), v(2)); }, "layer_norm"},
      {"a gain too short", [] { layer_norm(ex, cm(2, 3), cv(2), cv(3), 1e-5, m(2, 3), v(2), v(2)); }, "layer_norm"},
      {"a mean too long", [] { layer_norm(ex, cm(2, 3), cv(3), cv(3), 1e-5, m(2, 3), v(3), v(2)); }, "layer_norm"},
      {"gather_rows", [] { gather_rows(ex, cm(5, 2), n(4), m(3, 2)); }, "gather_rows"},
      {"gather_rows' width", [] { gather_rows(ex, cm(5, 2), n(3), m(3, 3)); }, "gather_rows"},
      {"scatter_add_rows", [] { scatter_add_rows(ex, cm(3, 2), n(2), m(5, 2)); }, "scatter_add_rows"},
      {"scatter_add_rows' width", [] { scatter_add_rows(ex, cm(3, 2), n(3), m(5, 3)); }, "scatter_add_rows"},
      {"dropout", [] { dropout(ex, {}, cm(3, 2), m(2, 3)); }, "dropout"},
      {"dropout of 7", [] { dropout(ex, {7}, cm(3, 2), m(3, 2)); }, "7"},
      {"dropout of a function", [] { dropout(ex, {}, gelu{}, ct(3, 2), t(2, 3)); }, "dropout"},
      {"dropout of a function of 7", [] { dropout(ex, {7}, gelu{}, ct(3, 2), t(3, 2)); }, "7"},
      {"gradient of dropout of a function", [] { dropout_grad(ex, {}, gelu_grad{}, ct(3, 2), ct(2, 3), t(3, 2)); },
       "dropout_grad"},
      {"transform", [] { transform(ex, relu{}, ct(3, 2), t(2, 3)); }, "transform"},
      {"transform of two", [] { transform(ex, plus{}, ct(3, 2), ct(3, 3), t(3, 2)); }, "transform"},
      {"cross_entropy's gradient", [] { cross_entropy(ex, t(3, 4), n(3), v(1), t(3, 3)); }, "cross_entropy"},
      {"cross_entropy's targets", [] { cross_entropy(ex, t(3, 4), n(2), v(1), t(3, 4)); }, "cross_entropy"},
      {"cross_entropy's loss", [] { cross_entropy(ex, t(3, 4), n(3), v(2), t(3, 4)); }, "cross_entropy"},
      {"smoothing of 1", [] { cross_entropy(ex, t(3, 4), n(3), v(1), t(3, 4), {1}); }, "smoothing"},
      {"smoothing of one class", [] { cross_entropy(ex, t(3, 1), n(3), v(1), t(3, 1), {0.1}); },
       "1 classes, expected 2 or more"},
      {"binary_cross_entropy's targets", [] { ask_labels(cm(3, 4), 5, 1, 1, m(3, 4)); }, "target is (3, 5)"},
      {"binary_cross_entropy's scale", [] { ask_labels(cm(3, 4), 4, 2, 1, m(3, 4)); }, "scale is (2), expected (1)"},
      {"binary_cross_entropy's loss", [] { ask_labels(cm(3, 4), 4, 1, 0, m(3, 4)); }, "loss is (0), expected (1)"},
      {"binary_cross_entropy's gradient", [] { ask_labels(cm(3, 4), 4, 1, 1, m(4, 3)); }, "dx is (4, 3)"},
      {"argmax_rows", [] { argmax_rows(ex, cm(3, 2), make_vec(numbers, 2)); }, "argmax_rows"},
      {"sum", [] { sum(ex, scratch(), cv(3), v(2)); }, "sum"},
      {"norm", [] { norm(ex, scratch(), cv(3), v(0)); }, "norm"},
      {"column_sums_add", [] { column_sums_add(ex, scratch(), cm(3, 2), v(3)); }, "column_sums_add"},
      {"adam's rate", [] { adam(ex, {}, cv(2), nullptr, v(3), cv(3), v(3), v(3)); }, "adam"},
      {"adam's gradient", [] { adam(ex, {}, cv(1), nullptr, v(3), cv(4), v(3), v(3)); }, "adam"},
      {"clip", [] { clip(ex, 1, cv(2), v(3)); }, "clip"},
      {"log_step", [] { log_step(ex, nullptr, cv(2), cv(1), m(4, 2)); }, "log_step"},
      {"log_step's table", [] { log_step(ex, nullptr, cv(1), cv(1), m(4, 3)); }, "log_step"},
      {"head_bias_add", [] { head_bias_add(ex, ct(3, 2), cv(4), t(4, 4)); }, "head_bias"},
      {"head_bias_add's heads", [] { head_bias_add(ex, ct(3, 3), cv(4), t(3, 4)); }, "head_bias"},
      {"tree_loss", [] { tree_loss(ex, scratch(), cm(4, 3), n(3), v(1), m(4, 3)); }, "tree_loss"},
      {"decode_rows", [] { decode_rows(ex, cm(4, 3), 0.5, make_vec(numbers, 3)); }, "decode_rows"},
      {"pair_sum's nodes", [] { pair_sum(ex, graphs(), cm(4, 2), cm(4, 2), {}, no_matrix<double const>(), m(13, 2)); },
       "pair_sum"},
      {"pair_sum's edges", [] { pair_sum(ex, graphs(), cm(5, 2), cm(5, 2), {}, no_matrix<double const>(), m(12, 2)); },
       "pair_sum"},
      {"pair_sum's widths", [] { pair_sum(ex, graphs(), cm(5, 2), cm(5, 3), {}, no_matrix<double const>(), m(13, 2)); },
       "pair_sum"},
      {"implied_labels' edges",
       [] { implied_labels(ex, grids(), cm(3, 4), cm(2, 5), cm(4, 5), m(2, 4), m(2, 5), m(2, 5), m(2, 5)); },
       "s is (3, 4), expected (4, 4)"},
      {"implied_labels' slopes",
       [] { implied_labels(ex, grids(), cm(4, 4), cm(2, 5), cm(4, 5), m(2, 4), m(2, 5), m(3, 5), m(2, 5)); },
       "of_y is (3, 5), expected (2, 5)"},
      {"implied_labels_grad's table",
       [] { implied_labels_grad(ex, grids(), cm(4, 5), cm(2, 4), cm(2, 5), cm(2, 5), cm(2, 5), m(2, 5), m(4, 4)); },
       "dimplied is (4, 4), expected (4, 5)"},
      {"noisy_or's tokens", [] { noisy_or(ex, grids(), cm(2, 4), cm(6, 2), m(4, 4)); }, "2 rows of p, expected 3"},
      {"noisy_or's roles", [] { noisy_or(ex, grids(), cm(3, 4), cm(6, 3), m(4, 4)); }, "expected 0, 1 or 2"},
      {"noisy_or's sums", [] { noisy_or(ex, grids(), cm(3, 4), cm(6, 1), m(4, 4)); }, "(4, 4), expected (2, 4)"},
      {"pair_product's nodes", [] { pair_product(ex, graphs(), cm(4, 2), cm(4, 2), v(13)); }, "pair_product"},
      {"pair_product's edges", [] { pair_product(ex, graphs(), cm(5, 2), cm(5, 2), v(12)); }, "pair_product"},
      {"arcs' scores", [] { arc_cross_entropy(ex, scratch(), {}, graphs(), cv(12), n(5), v(1), v(12)); }, "arc"},
      {"arcs' parents", [] { arc_cross_entropy(ex, scratch(), {}, graphs(), cv(13), n(4), v(1), v(13)); }, "arc"},
      {"best_arcs", [] { best_arcs(ex, {}, graphs(), cv(13), make_vec(numbers, 4)); }, "best_arcs"},
  });
}

// Calls triangular attention for two graphs, with one argument changed.
template <class Change>
void attend(Change change) {
  triangle_options s{triangle_form::full, 2, {}, {}, {}};
  triangle_projections<double const> x{cm(13, 4), cm(13, 4), cm(13, 4), cm(13, 4)};
  triangle_statistics<double> statistics{m(13, 2), m(13, 2)};
  auto o = m(13, 4);
  change(s, x, statistics, o);
  triangle(ex, scratch(), s, x, graphs(), statistics, o);
}

std::uint8_t const masked[64]{};

TEST_CASE("triangles are given shapes that fit, or it is said") {
  CHECK_NOTHROW(attend([](auto&...) {}));
  expect_all({
      {"no heads", [] { attend([](auto& s, auto&, auto&, auto&) { s.heads = 0; }); }, "triangle"},
      {"heads that do not divide", [] { attend([](auto& s, auto&, auto&, auto&) { s.heads = 3; }); }, "triangle"},
      {"heads -2", [] { attend([](auto& s, auto&, auto&, auto&) { s.heads = -2; }); }, "triangle"},
      {"a key of other rows", [] { attend([](auto&, auto& x, auto&, auto&) { x.key = cm(12, 4); }); }, "triangle"},
      {"a query of other rows", [] { attend([](auto&, auto& x, auto&, auto&) { x.query = cm(12, 4); }); }, "triangle"},
      {"a value of another width", [] { attend([](auto&, auto& x, auto&, auto&) { x.left_value = cm(13, 2); }); },
       "triangle"},
      {"no right value", [] { attend([](auto&, auto& x, auto&, auto&) { x.right_value = cm(0, 0); }); },
       "right_value is (0, 0), expected (13, 4)"},
      {"a short mask",
       [] { attend([](auto& s, auto&, auto&, auto&) { s.mask.masked = vec<std::uint8_t const>(masked, 34); }); },
       "mask is (34), expected (35)"},
      {"one source of two", [] { attend([](auto& s, auto&, auto&, auto&) { s.sources = n(1); }); }, "triangle"},
      {"statistics of other heads", [] { attend([](auto&, auto&, auto& z, auto&) { z.maximum = m(13, 3); }); },
       "triangle"},
      {"an output of other rows", [] { attend([](auto&, auto&, auto&, auto& o) { o = m(12, 4); }); }, "triangle"},
  });
}

TEST_CASE("layers are joined and run as they fit, or it is said") {
  expect_all({
      {"a chain of other columns",
       [] { chain(linear<double>{extents<dyn, dyn>(3, 4)}, linear<double>{extents<dyn, dyn>(5, 2)}); }, "chain"},
      {"a residual of other columns", [] { residual(linear<double>{extents<dyn, dyn>(3, 4)}); }, "residual"},
      {"a layer without scratch",
       [] {
         feed_forward<double> const layer(2, 3, 2);
         buffer<> const memory(1 << 12);
         auto place = memory.place();
         auto const w = layer.plan_params<double const>(place);
         auto const saved = layer.plan_saved(place, row_dims(2));
         auto const gradient = layer.plan_params<double>(place);
         layer.backward(ex, call{}, w, ct(2, 2), saved, ct(2, 2), t(2, 2), gradient);
       },
       "no scratch memory"},
      {"an input of another width",
       [] {
         linear<double> const layer{extents<dyn, dyn>(3, 4)};
         buffer<> const memory(1 << 12);
         auto place = memory.place();
         layer.forward(ex, call{}, layer.plan_params<double const>(place), ct(2, 5), {}, t(2, 4));
       },
       "matmul"},
      {"a layer of dropout 2",
       [] {
         dropout_layer<double> const layer{extents<dyn>(3), 2};
         layer.forward(ex, call{}, {}, ct(2, 3), {}, t(2, 3));
       },
       "dropout is 2"},
  });
}

}  // namespace misuse_uses_tests
