// The interpreters of a Differentiable Tree Machine.  An interpreter holds the trees in memory, and computes the
// weighted operation of one step.
// SPDX-License-Identifier: Apache-2.0
//
// There are two interpreters with the same interface.  tree_interpreter is for canonical roles.  The rows of a tree are
// positions, and the operations move rows (ops/tree_shift.hpp).  matrix_interpreter is for any roles.  The roles are
// the rows of R (N, r).  Every argument c has a matrix A_c: D_c for a child, E_c for an argument of cons.  These
// matrices are constant, or learned as in the DTM's ablation:
//
//   M_0 = R' s                        s (N, f): the fillers of a tree, a row for each position;  inverse: s = R M
//   B_c = sum_l w_k(l, c) M_l;   M_{k+1} = sum_c A_c B_c + r_root s_k      M (r, f) of every sample
//   G_c = A_c' dM_{k+1};     dw_k(l, c) = <M_l, G_c>,  dM_l += sum_c w_k(l, c) G_c
//                            dA_c += dM_{k+1} B_c',  ds_k = dM_{k+1}' r_root
#pragma once

#include <string>

#include "triad/core/math.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/reduce.hpp"
#include "triad/ops/tree_shift.hpp"

namespace triad {

/// The memory of an interpreter during one pass.
template <class T>
struct tree_pass {
  tree_support support;          // the positions of each slot that may have fillers; only for tree_interpreter
  tree_memory_view<T> memory;    // (steps + 1, batch, rows, f)
  tree_weights_view<T> weights;  // (steps, batch, steps or more, 2 b); step k reads only the weights of slots 0 .. k
};

template <class T>
struct tree_interpreter {
  static constexpr bool rows_are_positions = true;  // so a row is zero if its position has no filler

  tree_positions<> where;

  explicit tree_interpreter(tree_positions<> positions) : where(positions) {}
  constexpr index_t rows() const { return where.count(); }
  constexpr index_t arguments() const { return 2 * where.branching(); }
  /// The number of positions of a tree.
  constexpr index_t position_count() const { return where.count(); }

  template <class S>
  struct fields {
    template <class F>
    constexpr void each(F&&) {}
  };
  template <class S = T>
  fields<S> plan_params(arena&) const {
    return {};
  }

  /// Overwrites slot 0 with the fillers of the labels `symbols` (batch N).  The fillers are rows of the table (V, f).
  template <backend Ex>
  static void bind(Ex& ex, fields<T const>, tensor<T const, dyn, dyn> table, vec<index_t const> symbols, arena&,
                   tree_pass<T> const& p) {
    gather_rows(ex, table, symbols, as_matrix(tree_slot(p.memory, 0)));
  }
  /// Returns the fillers of the trees in slot `slot`, one row for each position: (batch N, f).
  template <backend Ex>
  static matrix<T const> unbind(Ex&, fields<T const>, arena&, tree_pass<T> const& p, index_t slot) {
    return as_matrix(read_only(tree_slot(p.memory, slot)));
  }
  /// Computes the gradient of unbind().  Overwrites d_slot.
  template <backend Ex>
  static void unbind_grad(Ex& ex, fields<T const>, matrix<T const> d, tree_batch_view<T> d_slot) {
    transform(ex, unchanged{}, tensor<T const, dyn, dyn>(d.data_handle(), d.extent(0), d.extent(1)),
              tensor<T, dyn, dyn>(d_slot.data_handle(), d.extent(0), d.extent(1)));
  }

  /// Runs step `step`.  Overwrites slot step + 1.
  template <backend Ex>
  void forward(Ex& ex, call const&, fields<T const>, tree_pass<T> const& p, index_t step, matrix<T const> root) const {
    tree_shift(ex, where, p.support, step, tree_weights_view<T const>(p.weights), root, p.memory);
  }
  /// Call this function once before the first backward() of a pass.
  template <backend Ex>
  static void begin_backward(Ex&, tree_memory_view<T>) {}
  /// Reads slot step + 1 of d_memory.  Overwrites d_root and the part of d_weights that belongs to this step.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const>, tree_pass<T> const& p, index_t step,
                tree_memory_view<T> d_memory, tree_weights_view<T> d_weights, matrix<T> d_root, fields<T>) const {
    tree_shift_dots(ex, *c.scratch, where, p.support, step, tree_memory_view<T const>(p.memory),
                    tree_memory_view<T const>(d_memory), d_weights, d_root);
  }
  /// Completes slot `slot` of d_memory: adds the gradients from all steps that read this slot.
  template <backend Ex>
  void complete(Ex& ex, tree_pass<T> const& p, index_t slot, tree_memory_view<T> d_memory) const {
    tree_shift_grad(ex, where, p.support, tree_weights_view<T const>(p.weights), slot, d_memory);
  }
};

/// The interpreter for any roles.  The caller provides the memory of the roles and the matrices.  If `learned` is true,
/// the matrices are parameters instead.
template <class T>
struct matrix_interpreter {
  static constexpr bool rows_are_positions = false;

  index_t branching;
  index_t positions;  // N
  index_t width;      // r
  bool learned = false;
  tensor<T const, dyn, dyn> roles{};      // (N, r)
  tensor<T const, dyn, dyn, dyn> maps{};  // (2 b, r, r): D_c, then E_c; empty if learned

  constexpr index_t rows() const { return width; }
  constexpr index_t arguments() const { return 2 * branching; }
  constexpr index_t position_count() const { return positions; }

  template <class S>
  struct fields {
    tensor<S, dyn, dyn, dyn> maps;  // (2 b, r, r), or (0, r, r)
    template <class F>
    constexpr void each(F&& f) {
      for (index_t c = 0; c < maps.extent(0); ++c) {
        bool const child = c < maps.extent(0) / 2;
        f(std::string(child ? "child" : "cons") + std::to_string(child ? c : c - maps.extent(0) / 2), slice(maps, c));
      }
    }
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, dyn, dyn, dyn>>(learned ? arguments() : 0, width, width)};
  }

  template <backend Ex>
  void bind(Ex& ex, fields<T const>, tensor<T const, dyn, dyn> table, vec<index_t const> symbols, arena& scratch,
            tree_pass<T> const& p) const {
    auto const frame = scratch.open();
    index_t const batch = p.memory.extent(1), f = p.memory.extent(3);
    auto const fillers = scratch.make<tensor<T, dyn, dyn>>(batch * positions, f);
    gather_rows(ex, table, symbols, fillers);
    each_sample(ex, transposed(roles), of_samples(read_only(fillers), positions), of_slot(p.memory, 0));
  }
  template <backend Ex>
  matrix<T const> unbind(Ex& ex, fields<T const>, arena& scratch, tree_pass<T> const& p, index_t slot) const {
    index_t const batch = p.memory.extent(1);
    auto const fillers = scratch.make<tensor<T, dyn, dyn>>(batch * positions, p.memory.extent(3));
    each_sample(ex, as_matrix(roles), of_slot(tree_memory_view<T const>(p.memory), slot),
                of_samples(fillers, positions));
    return as_matrix(read_only(fillers));
  }
  template <backend Ex>
  void unbind_grad(Ex& ex, fields<T const>, matrix<T const> d, tree_batch_view<T> d_slot) const {
    index_t const batch = d_slot.extent(0), f = d_slot.extent(2);
    each_sample(ex, transposed(roles), make_matrices(d.data_handle(), batch, positions, f, positions * f, f),
                make_matrices(d_slot.data_handle(), batch, width, f, width * f, f));
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, tree_pass<T> const& p, index_t step,
               matrix<T const> root) const {
    expect_shape("matrix_interpreter", "roles", roles, {positions, width});
    if (!learned) expect_shape("matrix_interpreter", "maps", maps, {arguments(), width, width});
    auto const frame = c.scratch->open();
    index_t const batch = p.memory.extent(1), f = p.memory.extent(3);
    auto const blended = blend(ex, *c.scratch, p, step);
    auto const parts = c.scratch->template make<tensor<T, dyn, dyn, dyn>>(arguments() + 1, batch * width, f);
    for (index_t a = 0; a < arguments(); ++a)
      each_sample(ex, map_of(w, a), of_argument(read_only(blended), a, batch), of_argument(parts, a, batch));
    each_sample(ex, transposed(root_role()), make_matrices(root.data_handle(), batch, index_t{1}, f, root.stride(0), f),
                of_argument(parts, arguments(), batch));
    auto const slot = as_matrix(tree_slot(p.memory, step + 1));
    fill(ex, T(0), tree_slot(p.memory, step + 1));
    column_sums_add(ex, *c.scratch,
                    make_matrix<T const>(parts.data_handle(), arguments() + 1, batch * width * f, batch * width * f),
                    make_vec(slot.data_handle(), batch * width * f));
  }
  template <backend Ex>
  static void begin_backward(Ex& ex, tree_memory_view<T> d_memory) {
    index_t const before = d_memory.extent(0) - 1, tree = d_memory.extent(1) * d_memory.extent(2) * d_memory.extent(3);
    fill(ex, T(0), make_vec(d_memory.data_handle(), before * tree));
  }
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, tree_pass<T> const& p, index_t step,
                tree_memory_view<T> d_memory, tree_weights_view<T> d_weights, matrix<T> d_root,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const batch = p.memory.extent(1), f = p.memory.extent(3);
    auto const dy = of_slot(tree_memory_view<T const>(d_memory), step + 1);
    each_sample(ex, root_role(), dy, make_matrices(d_root.data_handle(), batch, index_t{1}, f, d_root.stride(0), f));
    auto const g = scratch.template make<tensor<T, dyn, dyn, dyn>>(arguments(), batch * width, f);
    for (index_t a = 0; a < arguments(); ++a) each_sample(ex, transposed(map_of(w, a)), dy, of_argument(g, a, batch));
    if (learned) {
      auto const blended = blend(ex, scratch, p, step);
      for (index_t a = 0; a < arguments(); ++a)
        for (index_t b = 0; b < batch; ++b)
          matmul_add(ex, make_matrix<T const>(address_of(d_memory, step + 1, b, 0, 0), width, f, f),
                     transposed(make_matrix<T const>(address_of(blended, a, b * width, 0), width, f, f)),
                     as_matrix(slice(gradient.maps, a)));
    }
    // For each sample, with M (step + 1, r f) and G (2 b, r f):  dw = M G',  dM += w G.
    for (index_t b = 0; b < batch; ++b) {
      matmul(ex, trees_of(read_only(p.memory), b, step), transposed(arguments_of(read_only(g), b)),
             weights_of(d_weights, b, step));
      matmul_add(ex, weights_of(read_only(p.weights), b, step), arguments_of(read_only(g), b),
                 trees_of(d_memory, b, step));
    }
  }
  template <backend Ex>
  static void complete(Ex&, tree_pass<T> const&, index_t, tree_memory_view<T>) {}

 private:
  matrix<T const> map_of(fields<T const> w, index_t a) const { return as_matrix(slice(learned ? w.maps : maps, a)); }
  matrix<T const> root_role() const { return make_matrix(roles.data_handle(), 1, width, width); }
  /// Computes y(b) = a x(b) for every sample b.
  template <backend Ex>
  static void each_sample(Ex& ex, matrix<T const> a, matrices<T const> x, matrices<T> y) {
    for (index_t b = 0; b < y.extent(0); ++b) matmul(ex, a, matrix_of(x, b), matrix_of(y, b));
  }
  /// Views an array (batch n, f) as (batch, n, f).
  template <class S>
  static matrices<S> of_samples(tensor<S, dyn, dyn> v, index_t n) {
    index_t const f = v.extent(1);
    return make_matrices(v.data_handle(), v.extent(0) / n, n, f, n * f, f);
  }
  template <class S>
  static matrices<S> of_slot(tree_memory_view<S> const& memory, index_t slot) {
    auto const t = tree_slot(memory, slot);
    return make_matrices(t.data_handle(), t.extent(0), t.extent(1), t.extent(2), t.extent(1) * t.extent(2),
                         t.extent(2));
  }
  template <class S>
  static matrices<S> of_argument(tensor<S, dyn, dyn, dyn> const& v, index_t a, index_t batch) {
    index_t const rows = v.extent(1) / batch, f = v.extent(2);
    return make_matrices(v.data_handle() + a * batch * rows * f, batch, rows, f, rows * f, f);
  }
  // Views of sample b.  trees_of(): the trees that a step reads (step + 1, r f).  weights_of(): the weights of these
  // trees (step + 1, 2 b).  arguments_of(): one tree for each argument (2 b, r f).
  template <class S>
  static matrix<S> trees_of(tree_memory_view<S> const& memory, index_t b, index_t step) {
    return make_matrix(address_of(memory, 0, b, 0, 0), step + 1, memory.stride(1), memory.stride(0));
  }
  template <class S>
  static matrix<S> weights_of(tree_weights_view<S> const& w, index_t b, index_t step) {
    return make_matrix(address_of(w, step, b, 0, 0), step + 1, w.extent(3), w.extent(3));
  }
  template <class S>
  matrix<S> arguments_of(tensor<S, dyn, dyn, dyn> const& v, index_t b) const {
    return make_matrix(address_of(v, 0, b * width, 0), v.extent(0), width * v.extent(2), v.stride(0));
  }
  /// Returns B_c for every argument and sample: (2 b, batch r, f).
  template <backend Ex>
  tensor<T, dyn, dyn, dyn> blend(Ex& ex, arena& scratch, tree_pass<T> const& p, index_t step) const {
    index_t const batch = p.memory.extent(1), f = p.memory.extent(3);
    auto const blended = scratch.make<tensor<T, dyn, dyn, dyn>>(arguments(), batch * width, f);
    for (index_t b = 0; b < batch; ++b)
      matmul(ex, transposed(weights_of(read_only(p.weights), b, step)), trees_of(read_only(p.memory), b, step),
             arguments_of(blended, b));
    return blended;
  }
};

}  // namespace triad
