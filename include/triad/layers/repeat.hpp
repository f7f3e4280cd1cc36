// One layer applied again and again, with the same parameters (tied) or its own at each depth.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0 = x,  x_{k+1} = layer(w_k, x_k),  y = x_N
//
// The layer is planned once; the k-th parameters, states and memory are computed from a stride, so N may be dynamic.
// keep::inputs stores only the x_k and runs each layer again in backward.
#pragma once

#include <string>

#include "triad/layers/layer.hpp"

namespace triad {

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
    Layer layer;
    S* base;         // parameters of depth 0, or null
    index_t stride;  // values from one depth to the next; 0 where tied
    index_t sets;    // 1 where tied

    typename Layer::template fields<S> at(index_t k) const {
      auto* const first = const_cast<std::remove_const_t<S>*>(base ? base + k * stride : nullptr);
      auto place = base ? arena(first, static_cast<std::size_t>(-1) / 2) : arena();
      return layer.template plan_params<S>(place);
    }
    template <class F>
    void each(F&& f) {
      for (index_t k = 0; k < sets; ++k) f(std::to_string(k), at(k));
    }
  };
  struct saved {
    Layer layer;
    layer_dims<Layer> dims;
    keep kept;
    std::byte *layers, *states;
    std::size_t layer_stride, state_stride;

    typename Layer::saved at(index_t k) const {
      auto place = layers ? arena(layers + static_cast<std::size_t>(kept == keep::everything ? k : 0) * layer_stride,
                                  layer_stride)
                          : arena();
      return layer.plan_saved(place, dims, kept);
    }
    /// x_k, 1 <= k: (rows, d)
    output state(index_t k) const {
      auto const slot = kept == keep::nothing ? k % 2 : k - 1;
      auto place = states ? arena(states + static_cast<std::size_t>(slot) * state_stride, state_stride) : arena();
      return place.template make<output>(dims.rows, columns_out(layer));
    }
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const bytes = planned_bytes([&](arena& a) { (void)layer.template plan_params<S>(a); });
    index_t const sets = tied ? 1 : count();
    auto const memory = place.rest();
    place.skip(bytes, sets);
    return {layer, static_cast<S*>(memory.base()), tied ? 0 : static_cast<index_t>(bytes / sizeof(S)), sets};
  }

  saved plan_saved(arena& place, layer_dims<Layer> dims, keep kept = keep::everything) const {
    return plan_first(place, dims, kept, count());
  }

  /// Memory for the first `used` layers and the states after each.
  saved plan_first(arena& place, layer_dims<Layer> dims, keep kept, index_t used) const {
    auto const layer_bytes = planned_bytes([&](arena& a) { (void)layer.plan_saved(a, dims, kept); });
    auto const state_bytes =
        planned_bytes([&](arena& a) { (void)a.template make<output>(dims.rows, columns_out(layer)); });
    auto const take = [&](std::size_t bytes, index_t slots) {
      auto* const begin = static_cast<std::byte*>(place.rest().base());
      place.skip(bytes, slots);
      return begin;
    };
    auto* const layers = take(layer_bytes, kept == keep::everything ? used : 1);
    auto* const states = take(state_bytes, kept == keep::nothing ? 2 : used);
    return {layer, dims, kept, layers, states, layer_bytes, state_bytes};
  }

  /// x_k as the input of depth k.
  input input_at(input in, saved const& s, index_t k) const { return k == 0 ? in : with_state(in, s.state(k)); }

  /// y = x_N; x_N is not kept in `saved`.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, output y) const {
    forward_to(ex, c, w, in, s, y, count());
  }
  /// The first `last` layers; y = x_last.
  template <backend Ex>
  void forward_to(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, output y, index_t last) const {
    TRIAD_EXPECTS(last > 0, "repeat: at least one layer is needed");
    for (index_t k = 0; k < last; ++k)
      layer.forward(ex, c.child(k), w.at(k), input_at(in, s, k), s.at(k), k + 1 == last ? y : s.state(k + 1));
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, const_view<output> dy, output dx,
                fields<T> gradient) const {
    backward_from(ex, c, w, in, s, dy, dx, gradient, count());
  }
  /// The way back through the first `last` layers, right after forward_to: s.at(last - 1) still holds what that left
  /// there.
  template <backend Ex>
  void backward_from(Ex& ex, call const& c, fields<T const> w, input in, saved const& s, const_view<output> dy,
                     output dx, fields<T> gradient, index_t last) const {
    TRIAD_EXPECTS(s.kept != keep::nothing, "repeat: memory planned for inference has nothing for backward");
    TRIAD_EXPECTS(last > 0, "repeat: at least one layer is needed");
    auto const frame = c.scratch->open();
    output const steps[2] = {c.scratch->template make<output>(in.x.extent(0), columns_out(layer)),
                             c.scratch->template make<output>(in.x.extent(0), columns_out(layer))};
    const_view<output> from = dy;
    for (index_t k = last - 1; k >= 0; --k) {
      auto const to = k == 0 ? dx : steps[k % 2];
      auto const x = input_at(in, s, k);
      if (s.kept == keep::inputs && k < last - 1)
        layer.forward(ex, c.child(k), w.at(k), x, s.at(k), to);  // `to` is overwritten next
      layer.backward(ex, c.child(k), w.at(k), x, s.at(k), from, to, gradient.at(k));
      from = to;
    }
  }
};

}  // namespace triad
