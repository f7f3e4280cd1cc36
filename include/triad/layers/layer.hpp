// The concept of a layer, and the small types that layers share.
// SPDX-License-Identifier: Apache-2.0
//
// A layer is a constant value: its shape and hyper-parameters.  Its members:
//
//   fields<S>                            named parameters (S = T) or their read-only views (S = T const)
//   plan_params<S>(arena&)               places them; the same code measures on an arena without memory
//   plan_saved(arena&, dims, keep)       places what backward needs
//   forward(ex, call, fields<T const>, input, saved const&, output)
//   backward(ex, call, fields<T const>, input, saved const&, doutput, dinput, fields<T> gradient)
//
// backward gets the input again, so that `saved` is memory and nothing else and can be planned afresh at any time.
// It is right when, for f = sum(y dy), it overwrites dinput with df/dinput and adds df/dparameters to gradient.
// An `input` is a view, or a struct whose member x is the view that has a gradient.
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

/// Where papers and their released programs differ: `released` made the published tables of CLUTRR, COGS and CFQ's
/// queries.
enum class form { released, paper };

/// The memory that a model keeps between forward and backward.
enum class keep {
  everything,  // training
  inputs,      // training; each repeated layer runs again in backward
  nothing,     // inference; backward must not follow
};

/// Sizes of a batch for layers that know only rows.
struct row_dims {
  index_t rows = 0;
  constexpr explicit row_dims(index_t r) : rows(r) {}
  constexpr row_dims(graph_dims const& g) : rows(g.rows) {}  // every graph layer may hold row layers
};
/// The counts of the dims, for core/batch_sizes.hpp.
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
/// The sizes that the memory of a layer or a model is planned with: its `planned_with`, or else graph_dims.
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

/// A layer, as stacks, models and gradient_check take it.  Whether forward and backward fit is checked where they are
/// called.
template <class L>
concept layer = detail::names_layer_types<L> && detail::plans_parameters<L> && detail::plans_saved<L>;

namespace detail {
/// layer<L>, or static assertions that name what is missing.
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

/// Edge states of a batch of graphs: the input of graph layers.
template <class T, index_t D>
struct edge_input {
  tensor<T const, dyn, D> x;  // (rows, d); has a gradient
  graph_batch graphs;
  triangle_mask mask{};
  vec<index_t const> wanted{nullptr, 0};  // the edges whose result is wanted, or none: all
  /// (b) causal: triangle_options says which middle nodes are left; or none: all
  vec<index_t const> sources{nullptr, 0};
};

/// The same input with another state.
template <class Input, class View>
constexpr Input with_state(Input in, View x) {
  if constexpr (requires { in.x; })
    in.x = decltype(in.x)(x);
  else
    in = Input(x);
  return in;
}

/// The part of an input that has a gradient: the input itself, or its member x.
template <class Input>
constexpr auto state_of(Input const& in) {
  if constexpr (requires { in.x; })
    return in.x;
  else
    return in;
}
template <class Input>
using state_of_t = decltype(state_of(std::declval<Input const&>()));

/// Columns of a layer's input and of its result: its in() and out(), or its width() where they are the same.
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
/// True where both numbers of columns are known at compile time and differ.
template <class A, class B>
constexpr bool columns_clash() {
  if constexpr (A::rank() == B::rank() && A::rank() > 0)
    return extents_clash<A, A::rank() - 1, B, B::rank() - 1>();
  else
    return false;
}
}  // namespace detail

/// The number of rows of a layer's result.
constexpr index_t rows_wanted(index_t rows, index_t wanted) { return wanted > 0 ? wanted : rows; }

}  // namespace triad
