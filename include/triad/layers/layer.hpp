// The concept of a layer, and small types that all layers use.
// SPDX-License-Identifier: Apache-2.0
//
// A layer is a constant value that holds its shape and hyper-parameters.  It has these members:
//
//   fields<S>                            named parameters (S = T) or their read-only views (S = T const)
//   plan_params<S>(arena&)               takes memory for the parameters; an arena without memory measures their size
//   plan_saved(arena&, dims, keep)       takes memory for the values that forward saves for backward
//   forward(ex, call, fields<T const>, input, saved const&, output)
//   backward(ex, call, fields<T const>, input, saved const&, doutput, dinput, fields<T> gradient)
//
// backward takes the input too, so `saved` has only views of planned memory.  Planning this memory again gives equal
// views.  backward is correct if it overwrites dinput with df/dinput and adds df/dparameters to gradient, for f = sum(y
// dy).  An `input` is a view, or a struct whose member x is the view that has a gradient.
#pragma once

#include <concepts>
#include <utility>

#include "triad/core/backend.hpp"
#include "triad/core/call.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/sizes.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Says how a layer is put together where programs and papers differ: as in the released program, as in the paper, or
/// with both norms inside of the residual branches.  Layers that have these forms take this option.  The published
/// results for CLUTRR, COGS and CFQ's queries were computed with the released programs.
enum class form { released, paper, pre_norm };

/// The values that a model keeps between forward and backward.
enum class keep {
  everything,  // for training
  inputs,      // for training; backward computes each repeated layer's values again
  nothing,     // for inference; backward must not follow
};

/// The sizes of a batch for layers that work on rows.
struct row_dims {
  index_t rows = 0;
  constexpr explicit row_dims(index_t r) : rows(r) {}
  constexpr row_dims(graph_dims const& g) : rows(g.rows) {}  // for a layer on rows inside of a graph layer
};
/// Calls f.sum() with each size, for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(row_dims& d, F&& f) {
  f.sum(d.rows, "rows");
}

namespace detail {
template <class Layer>
struct dims_of {
  using type = graph_dims;
};
template <class Layer>
  requires requires { typename Layer::planned_with; }
struct dims_of<Layer> {
  using type = typename Layer::planned_with;
};
}  // namespace detail
/// The type of the sizes that plan_saved() of a layer or model takes.  It is the layer's member type planned_with, or
/// graph_dims if the layer has no such member.
template <class Layer>
using layer_dims = typename detail::dims_of<Layer>::type;

namespace detail {
template <class L>
concept names_layer_types = requires {
  typename L::input;
  typename L::output;
  typename L::saved;
  typename fields_of<L, scalar_t<L>>;
};
template <class L>
concept plans_parameters = requires(L const& l, arena& place) {
  { l.plan_params(place) } -> std::same_as<fields_of<L, scalar_t<L>>>;
};
template <class L>
concept plans_saved = requires(L const& l, arena& place, layer_dims<L> const& dims) {
  { l.plan_saved(place, dims, keep::everything) } -> std::same_as<typename L::saved>;
};

}  // namespace detail

/// A layer, as stacks, models and gradient_check use layers.  The concept does not check forward() and backward().
/// Compilers check these functions where they are called.
template <class L>
concept layer = detail::names_layer_types<L> && detail::plans_parameters<L> && detail::plans_saved<L>;

namespace detail {
/// Returns layer<L>.  If a member is missing, a static assertion has the name of this member.
template <class L>
constexpr bool expect_layer() {
  static_assert(names_layer_types<L>, "a layer names its input, output, saved and fields<S> (triad/layers/layer.hpp)");
  if constexpr (names_layer_types<L>) {
    static_assert(plans_parameters<L>, "a layer has plan_params<S>(arena&), which gives its fields<S>");
    static_assert(plans_saved<L>, "a layer has plan_saved(arena&, dims, keep), which gives its saved");
  }
  return layer<L>;
}
}  // namespace detail

/// The states of the edges of a batch of graphs.  Graph layers take this input.
template <class T, index_t D>
struct edge_input {
  tensor<T const, dyn, D> x;  // (rows, d); has a gradient
  graph_batch graphs;
  triangle_mask mask{};
  vec<index_t const> wanted{nullptr, 0};  // the edges for which results are computed; (0): all edges
  /// (b) the number of source nodes of each graph, for causal attention (triangle_options::sources); (0): not causal
  vec<index_t const> sources{nullptr, 0};
};

/// Returns the input `in` with x as its state.
template <class Input, class View>
constexpr Input with_state(Input in, View x) {
  if constexpr (requires { in.x; })
    in.x = decltype(in.x)(x);
  else
    in = Input(x);
  return in;
}

/// Returns the part of an input that has a gradient: the input, or its member x.
template <class Input>
constexpr auto state_of(Input const& in) {
  if constexpr (requires { in.x; })
    return in.x;
  else
    return in;
}
template <class Input>
using state_of_t = decltype(state_of(std::declval<Input const&>()));

/// columns_in() returns the number of columns of a layer's input.  It is in() if the layer has this function, or else
/// width().  columns_out() returns the number of columns of a layer's result.  It is out() or else width().
template <class Layer>
constexpr index_t columns_in(Layer const& layer) {
  if constexpr (requires { layer.in(); })
    return layer.in();
  else
    return layer.width();
}
template <class Layer>
constexpr index_t columns_out(Layer const& layer) {
  if constexpr (requires { layer.out(); })
    return layer.out();
  else
    return layer.width();
}

namespace detail {
/// Whether the last extents of A and B are both known at compile time and differ.
template <class A, class B>
constexpr bool columns_clash() {
  if constexpr (A::rank() == B::rank() && A::rank() > 0)
    return extents_clash<A, A::rank() - 1, B, B::rank() - 1>();
  else
    return false;
}
}  // namespace detail

/// Returns the number of rows of a layer's result.  It is `wanted`, or `rows` if `wanted` is 0.
constexpr index_t rows_wanted(index_t rows, index_t wanted) { return wanted > 0 ? wanted : rows; }

}  // namespace triad
