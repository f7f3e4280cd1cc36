// One layer applied again and again, with the same parameters (tied) or its own at each depth.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0 = x,  x_{k+1} = layer(w_k, x_k),  y = x_N
//
// The k-th parameters, states and memory are pieces of a series, so N may be dynamic.  keep::inputs stores only the x_k
// and runs each layer again in backward.  The last layer may compute only those rows of y that somebody reads.
#pragma once

#include <string>
#include <type_traits>

#include "triad/core/series.hpp"
#include "triad/layers/layer.hpp"

namespace triad {

namespace detail {
/// The parameters of a layer, as a piece of a series.
template <class Layer, class S>
struct params_plan {
  Layer layer;
  fields_of<Layer, S> operator()(arena& place) const { return plan<S>(layer, place); }
};
/// What a layer keeps, as a piece of a series.
template <class Layer>
struct saved_plan {
  Layer layer;
  layer_dims<Layer> dims;
  keep kept;
  auto operator()(arena& place) const { return layer.plan_saved(place, dims, kept); }
};
/// A layer's result, as a piece of a series: (rows, d).
template <class View>
struct state_plan {
  index_t rows, width;
  View operator()(arena& place) const { return place.make<View>(rows, width); }
};

/// Layers that compute only the rows of their result that somebody reads.
template <class Layer>
concept reads_rows = requires(Layer const& layer, arena& place, layer_dims<Layer> const& dims,
                              typename Layer::input in) {
  layer.plan_saved(place, dims, keep::everything, index_t{});
  in.read = in.read;
};
/// What such a layer keeps, nothing of others.
struct nothing {};
template <class Layer>
using saved_where_read = std::conditional_t<reads_rows<Layer>, typename Layer::saved, nothing>;
}  // namespace detail

template <class T, class Layer, index_t N = dyn>
struct repeat {
  using input = typename Layer::input;
  using output = typename Layer::output;
  using planned_with = layer_dims<Layer>;

  Layer layer;
  [[no_unique_address]] extents<N> depth;
  bool tied = false;

  constexpr index_t count() const { return depth.extent(0); }
  constexpr index_t width() const { return columns_out(layer); }

  template <class S>
  struct fields {
    series<detail::params_plan<Layer, S>> sets;  // one where tied

    fields_of<Layer, S> at(index_t k) const { return sets.at(k); }
    template <class F>
    void each(F&& f) {
      for (index_t k = 0; k < sets.slots; ++k) f(std::to_string(k), at(k));
    }
  };
  struct saved {
    keep kept;
    series<detail::saved_plan<Layer>> layers;   // one slot unless everything is kept
    series<detail::state_plan<output>> states;  // x_1, x_2 ...; two slots for inference
    detail::saved_where_read<Layer> last;
    bool reading;  // the last layer is `last`, and computes what is read alone

    /// What layer k + 1 left, but for the last where `reading`: repeat::saved_of knows both.
    typename Layer::saved at(index_t k) const { return layers.at(k); }
    /// x_k, 1 <= k: (rows, d)
    output state(index_t k) const { return states.at(k - 1); }
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan_series(place, detail::params_plan<Layer, S>{layer}, tied ? 1 : count())};
  }

  saved plan_saved(arena& place, layer_dims<Layer> dims, keep kept = keep::everything) const {
    return {kept, plan_layers(place, dims, kept, count()), plan_states(place, dims, kept, count()), {}, false};
  }
  /// Memory for a pass that wants `read` rows of the result alone: the last layer computes no others.  Which they are
  /// is in.read of forward and backward.
  saved plan_reading(arena& place, layer_dims<Layer> dims, keep kept,
                     index_t read) const requires detail::reads_rows<Layer> {
    return {kept, plan_layers(place, dims, kept, count() - 1), plan_states(place, dims, kept, count() - 1),
            layer.plan_saved(place, read > 0 ? dims : layer_dims<Layer>{}, kept, read), true};
  }

  /// x_k as the input of depth k; rows are read of the last layer's result alone.
  input input_at(input in, saved const& s, index_t k) const {
    if (k > 0) in = with_state(in, s.state(k));
    if constexpr (detail::reads_rows<Layer>)
      if (k < count() - 1) in.read = decltype(in.read){};
    return in;
  }

  /// What layer k + 1 left in s.
  typename Layer::saved saved_of(saved const& s, index_t k) const {
    if constexpr (detail::reads_rows<Layer>)
      if (s.reading && k == count() - 1) return s.last;
    return s.at(k);
  }

  /// y = x_N: (rows, d), or the rows that are read; x_N is not kept in `saved`.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, output y) const {
    expect_layers();
    for (index_t k = 0; k < count(); ++k)
      layer.forward(ex, c.child(k), w.at(k), input_at(in, s, k), saved_of(s, k), k + 1 == count() ? y : s.state(k + 1));
  }

  /// dy: as y.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, const_view<output> dy, output dx,
                fields<T> gradient) const {
    expect_layers();
    TRIAD_EXPECTS(s.kept != keep::nothing, "repeat: memory planned for inference has nothing for backward");
    auto const frame = c.scratch->open();
    output const steps[2] = {c.scratch->template make<output>(in.x.extent(0), width()),
                             c.scratch->template make<output>(in.x.extent(0), width())};
    const_view<output> from = dy;
    for (index_t k = count() - 1; k >= 0; --k) {
      auto const to = k == 0 ? dx : steps[k % 2];
      auto const x = input_at(in, s, k);
      bool const overwritten = s.kept == keep::inputs && k + 1 < count() - (s.reading ? 1 : 0);
      if (overwritten) layer.forward(ex, c.child(k), w.at(k), x, s.at(k), to);  // `to` is overwritten next
      layer.backward(ex, c.child(k), w.at(k), x, saved_of(s, k), from, to, gradient.at(k));
      from = to;
    }
  }

 private:
  void expect_layers() const { TRIAD_EXPECTS(count() > 0, "repeat: at least one layer is needed"); }
  auto plan_layers(arena& place, layer_dims<Layer> const& dims, keep kept, index_t used) const {
    return plan_series(place, detail::saved_plan<Layer>{layer, dims, kept}, kept == keep::everything ? used : 1);
  }
  auto plan_states(arena& place, layer_dims<Layer> const& dims, keep kept, index_t used) const {
    return plan_series(place, detail::state_plan<output>{dims.rows, width()}, kept == keep::nothing ? 2 : used);
  }
};

}  // namespace triad
