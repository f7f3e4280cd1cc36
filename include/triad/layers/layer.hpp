// What every layer is made of, and the small types that layers share.
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

#include "triad/core/backend.hpp"
#include "triad/core/call.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/graphs.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// Where papers and their released programs differ: `released` made the published tables.
enum class form { released, paper };

/// What memory a model keeps between forward and backward.
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

/// Edge states of a batch of graphs: the input of graph layers.
template <class T, index_t D>
struct edge_input {
  tensor<T const, dyn, D> x;  // (rows, d); has a gradient
  graph_batch graphs;
  triangle_mask mask{};
  vec<index_t const> read{nullptr, 0};  // the edges whose result is wanted, or none: all
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

/// Number of rows a layer's result has.
constexpr index_t rows_read(index_t rows, index_t reads) { return reads > 0 ? reads : rows; }

}  // namespace triad
