// One layer applied N times.  All applications share one set of parameters (tied), or each application has its own set.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0 = x,  x_{k+1} = layer(w_k, x_k),  y = x_N
//
// The parameters, states and saved memory of the N applications are stored as series (core/series.hpp), so N may be
// dynamic.  With keep::inputs, only the x_k are kept, and the backward pass runs each layer's forward pass again.  If
// only some rows of y are wanted, either the last layer computes only these rows, or these rows are gathered from x_N.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "triad/core/fields.hpp"
#include "triad/core/series.hpp"
#include "triad/layers/layer.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

namespace detail {
/// Plans the parameters of one application, as one element of a series.
template <class Layer, class S>
struct params_plan {
  Layer layer;
  fields_of<Layer, S> operator()(arena& place) const { return plan<S>(layer, place); }
};
/// Plans the saved memory of one application, as one element of a series.
template <class Layer>
struct saved_plan {
  Layer layer;
  layer_dims<Layer> dims;
  keep kept;
  auto operator()(arena& place) const { return layer.plan_saved(place, dims, kept); }
};
/// Plans the result of one application, as one element of a series.  Calls plan_state() if the layer has this function.
/// Otherwise the result is (rows, d).
template <class Layer>
struct state_plan {
  Layer layer;
  layer_dims<Layer> dims;
  typename Layer::output operator()(arena& place) const {
    if constexpr (requires { layer.plan_state(place, dims); })
      return layer.plan_state(place, dims);
    else
      return place.make<typename Layer::output>(dims.rows, columns_out(layer));
  }
};

/// Which rows of x_N a repeat computes.
enum class which_rows {
  all,
  pruned,    // the last layer computes only the wanted rows
  gathered,  // the last layer computes all rows, and the wanted rows are gathered from them
};

/// A layer that can compute only the wanted rows of its result.
template <class Layer>
concept computes_wanted_rows =
    requires(Layer const& layer, arena& place, layer_dims<Layer> const& dims, typename Layer::input in) {
      layer.plan_saved(place, dims, keep::everything, index_t{});
      in.wanted = in.wanted;
    };
struct nothing {};
/// The type of the saved memory of a layer that can compute only wanted rows.  For other layers, an empty type.
template <class Layer>
using saved_of_wanted = std::conditional_t<computes_wanted_rows<Layer>, typename Layer::saved, nothing>;
}  // namespace detail

template <class T, class Layer, index_t N = dyn>
  requires(detail::expect_layer<Layer>())
struct repeat {
  using input = typename Layer::input;
  using output = typename Layer::output;
  using read_only_output = decltype(read_only(std::declval<output>()));
  using planned_with = layer_dims<Layer>;
  using which_rows = detail::which_rows;

  Layer layer;
  [[no_unique_address]] extents<N> depth;
  bool tied = false;
  bool prune = true;  // false: the last layer computes all rows, and the wanted rows are gathered

  constexpr index_t count() const { return depth.extent(0); }
  constexpr index_t width() const { return columns_out(layer); }

  template <class S>
  struct fields {
    series<detail::params_plan<Layer, S>> sets;  // one set of parameters if tied, else N

    fields_of<Layer, S> at(index_t k) const { return sets.at(k); }
    template <class F>
    void each(F&& f) {
      for (index_t k = 0; k < sets.slots; ++k) f(std::to_string(k), at(k));
    }
  };
  struct saved {
    keep kept;
    index_t depth;                             // N
    series<detail::saved_plan<Layer>> layers;  // one slot unless everything is kept
    series<detail::state_plan<Layer>> states;  // x_0, x_1 ...; two slots for inference
    detail::saved_of_wanted<Layer> last;       // the saved memory of the last layer, if it is pruned
    detail::which_rows computed;

    /// Whether layer k + 1 computes only the wanted rows.  If so, its saved memory is `last`.
    bool pruned(index_t k) const { return computed == detail::which_rows::pruned && k == depth - 1; }
    /// Returns the values that layer k + 1 saved.  After a pass, the values are valid if keeps(k).
    typename Layer::saved at(index_t k) const {
      if constexpr (detail::computes_wanted_rows<Layer>)
        if (pruned(k)) return last;
      return layers.at(k);
    }
    bool keeps(index_t k) const { return kept == keep::everything || pruned(k); }
    /// Returns x_k (rows, d), for k < N.  Also returns x_N if the wanted rows are gathered from x_N.  A caller that has
    /// no memory for x_0 can write x_0 to state(0).
    output state(index_t k) const {
      index_t const most = computed == detail::which_rows::gathered ? depth : depth - 1;
      TRIAD_EXPECTS(k >= 0 && k <= most, "repeat: state " + std::to_string(k) + ", expected 0 to " +
                                             std::to_string(most) + ", those in memory; forward's output is the last");
      return states.at(k);
    }
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan_series(place, detail::params_plan<Layer, S>{layer}, tied ? 1 : count())};
  }

  saved plan_saved(arena& place, layer_dims<Layer> dims, keep kept = keep::everything) const {
    expect_layers();
    return {.kept = kept,
            .depth = count(),
            .layers = plan_layers(place, dims, kept, count()),
            .states = plan_states(place, dims, kept, count()),
            .last = {},
            .computed = which_rows::all};
  }
  /// Plans memory for a pass that computes only some rows of the result.  `wanted` is the number of these rows.  The
  /// member `wanted` of the input of forward() and backward() lists the rows.
  saved plan_wanted(arena& place, layer_dims<Layer> dims, keep kept, index_t wanted) const
    requires detail::computes_wanted_rows<Layer>
  {
    expect_layers();
    if (!prune)
      return {.kept = kept,
              .depth = count(),
              .layers = plan_layers(place, dims, kept, count()),
              .states = plan_states(place, dims, kept, count() + 1),
              .last = {},
              .computed = which_rows::gathered};
    return {.kept = kept,
            .depth = count(),
            .layers = plan_layers(place, dims, kept, count() - 1),
            .states = plan_states(place, dims, kept, count()),
            .last = layer.plan_saved(place, wanted > 0 ? dims : layer_dims<Layer>{}, kept, wanted),
            .computed = which_rows::pruned};
  }

  /// Returns the input of layer k + 1, with x_k as its state.  Only a pruned last layer gets the list of wanted rows.
  input input_at(input in, saved const& s, index_t k) const {
    if (k > 0) in = with_state(in, s.state(k));
    if constexpr (detail::computes_wanted_rows<Layer>)
      if (!s.pruned(k)) in.wanted = decltype(in.wanted){};
    return in;
  }

  /// Overwrites y with x_N (rows, d), or with the wanted rows of x_N.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, output y) const {
    forward_with(ex, c, w, in, s, y, [](index_t, read_only_output) {});
  }
  /// The same.  Also calls read(k, x_k) with each state between two layers, 0 < k < N, as soon as the state is there.
  /// Inference overwrites the state later.
  template <backend Ex, class Read>
  void forward_with(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, output y,
                    Read const& read) const {
    expect_layers();
    for (index_t k = 0; k < count(); ++k) {
      bool const last = k + 1 == count();
      layer.forward(ex, c.child(k), w.at(k), input_at(in, s, k), s.at(k),
                    last && s.computed != which_rows::gathered ? y : s.state(k + 1));
      if (!last) read(k + 1, read_only(s.state(k + 1)));
    }
    if constexpr (detail::computes_wanted_rows<Layer>)
      if (s.computed == which_rows::gathered) gather_rows(ex, s.state(count()), in.wanted, y);
  }

  /// Overwrites dx.  Adds to `gradient`.  dy has the shape of y.  more(k) returns further arguments for backward() of
  /// layer k + 1.
  template <backend Ex, class... More>
    requires(std::is_invocable_v<More const&, index_t> && ...)
  void backward(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, read_only_output dy, output dx,
                fields<T> gradient, More const&... more) const {
    backward_with(ex, c, w, in, s, dy, dx, gradient, [](index_t, output) {}, more...);
  }
  /// The backward pass of forward_with().  Calls add(k, dx_k) for each state between two layers, 0 < k < N, from the
  /// last one down.  add() adds the gradient of what read(k, x_k) computed from the state.
  template <backend Ex, class Add, class... More>
    requires(std::is_invocable_v<Add const&, index_t, output> && (std::is_invocable_v<More const&, index_t> && ...))
  void backward_with(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, read_only_output dy, output dx,
                     fields<T> gradient, Add const& add, More const&... more) const {
    expect_layers();
    TRIAD_EXPECTS(s.kept != keep::nothing,
                  "repeat: backward with memory planned for inference, expected keep::everything or keep::inputs");
    auto const frame = c.scratch->open();
    output const steps[2] = {s.states.plan(*c.scratch), s.states.plan(*c.scratch)};
    auto from = dy;
    if constexpr (detail::computes_wanted_rows<Layer>)
      if (s.computed == which_rows::gathered) from = scatter_rows(ex, c.scratch, dy, in.wanted, steps[count() % 2]);
    for (index_t k = count() - 1; k >= 0; --k) {
      auto const to = k == 0 ? dx : steps[k % 2];
      auto const x = input_at(in, s, k);
      bool const overwritten = s.kept == keep::inputs && k + 1 < count() && !s.pruned(k + 1);
      if (overwritten) layer.forward(ex, c.child(k), w.at(k), x, s.at(k), steps[k % 2]);  // this result is not read
      layer.backward(ex, c.child(k), w.at(k), x, s.at(k), from, to, gradient.at(k), more(k)...);
      if (k > 0) add(k, to);
      from = read_only(to);
    }
  }

 private:
  void expect_layers() const {
    TRIAD_EXPECTS(count() > 0, "repeat: " + std::to_string(count()) + " layers, expected 1 or more");
  }
  auto plan_layers(arena& place, layer_dims<Layer> const& dims, keep kept, index_t used) const {
    return plan_series(place, detail::saved_plan<Layer>{layer, dims, kept},
                       kept == keep::everything ? used : std::min<index_t>(used, 1));
  }
  auto plan_states(arena& place, layer_dims<Layer> const& dims, keep kept, index_t used) const {
    return plan_series(place, detail::state_plan<Layer>{layer, dims}, kept == keep::nothing ? 2 : used);
  }
};

}  // namespace triad
