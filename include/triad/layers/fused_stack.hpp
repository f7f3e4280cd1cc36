// The layers of an encoder or a decoder.  Each layer may attend to the states after all earlier layers.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0 given;  x_l = layer_l(input_l; x_0 .. x_{l-1}), l = 1 .. L
//   y = x_L, or norm(x_L) if the layers have their norms before the branches
//
//   layer_link::previous   input_l = x_{l-1}
//   layer_link::sum        input_l = sum_{j<l} x_j
//   layer_link::weighted   input_l = sum_{j<l} w_lj norm_j(x_j),  y = input_{L+1}: DLCL (Wang et al. 2019)
//
// With distance_bias, all layers share a table of biases of the scores by distance (ops/distance_bias.hpp), as in
// MPNet.
//
// All states are kept.  The backward pass goes from the last layer to the first, and each layer adds to the gradients
// of the earlier states.  So the gradient of x_j is complete when the backward pass reaches layer j.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "triad/core/series.hpp"
#include "triad/core/views.hpp"
#include "triad/layers/fused_layer.hpp"
#include "triad/ops/distance_bias.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/matmul.hpp"

namespace triad {

/// How the input of a layer is computed from the earlier states.
enum class layer_link { previous, sum, weighted };

/// The largest number of layers of a stack.  fused_stack_options::fused has one bit for each layer.
inline constexpr index_t most_layers = 63;

struct fused_stack_options {
  transformer_layer_options layer{};
  index_t layers = 1;       // L
  bool tied = false;        // true: all layers share one set of parameters
  std::uint64_t fused = 0;  // bit k: layer k + 1 has fuse-attention
  layer_link link = layer_link::previous;
  index_t source_width = 0;    // the width of the encoder states to which a decoder attends; 0: an encoder
  bool distance_bias = false;  // true: the scores of self-attention have a bias by distance; only in an encoder
};

/// Values of fused_stack_options::fused.  all_fused(): all layers have fuse-attention.  only_top_fused(): only the last
/// layer has fuse-attention.
constexpr std::uint64_t all_fused(index_t layers) {
  if (layers != 0) (void)checked_size("all_fused", {"layers", layers, most_layers});
  return (std::uint64_t{1} << layers) - 1;
}
constexpr std::uint64_t only_top_fused(index_t layers) {
  return std::uint64_t{1} << (checked_size("only_top_fused", {"layers", layers, most_layers}) - 1);
}

template <class T, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct fused_stack {
  using layer_type = fused_layer<T, D, H, F>;
  using state = tensor<T, dyn, D>;  // (rows, d)
  using norm_type = layer_norm_layer<T, D>;

  transformer_layer_options layer_options;
  index_t count;
  bool tied;
  std::uint64_t fused;
  layer_link link;
  index_t source_width;
  bool distances;  // whether there is a bias by distance

  explicit fused_stack(fused_stack_options const& o)
      : layer_options(checked_options<D, H, F>("fused_stack", o.layer)),
        count(checked_size("fused_stack", {"layers", o.layers, most_layers})),
        tied(o.tied),
        fused(o.fused),
        link(o.link),
        source_width(o.source_width),
        distances(o.distance_bias) {
    TRIAD_EXPECTS(!distances || (layer_options.reach == 0 && !layer_options.causal && source_width == 0),
                  "fused_stack: a bias by distance with relative positions or in a decoder, expected neither");
    if (layer_options.reach != 0)
      (void)checked_size("fused_stack", {"reach of relative positions", layer_options.reach});
    if (source_width != 0) (void)checked_size("fused_stack", {"width of the source's states", source_width});
    TRIAD_EXPECTS(fused >> count == 0, "fused_stack: fuse-attention in layers beyond the last of " +
                                           std::to_string(count) + ", expected bits of `fused` below 2^" +
                                           std::to_string(count));
    TRIAD_EXPECTS(
        !tied || fused == 0 || fused == all_fused(count),
        "fused_stack: fuse-attention in some of " + std::to_string(count) + " tied layers, expected all or none");
  }

  constexpr index_t width() const { return layer_options.width; }
  /// Returns layer k + 1.
  layer_type layer(index_t k) const { return layer_type(layer_options, source_width, (fused >> k & 1) != 0); }
  /// The factor of the table of biases: attention divides the sums of products and biases by this number.
  T bias_scale() const { return std::sqrt(T(width() / layer_options.heads)); }
  /// The number of columns of the biases.
  constexpr index_t offsets() const { return distances ? layer_options.heads * relative_offsets(distance_reach) : 0; }
  constexpr norm_type norm() const { return {extents<D>(width()), layer_options.epsilon}; }
  constexpr bool normed() const { return layer_options.norms == norm_position::before && link != layer_link::weighted; }
  /// The number of norms outside of the layers: count + 1 with layer_link::weighted, 1 if only the last state has a
  /// norm, or 0.
  constexpr index_t norms() const { return link == layer_link::weighted ? count + 1 : normed() ? 1 : 0; }

  /// The parameters.  Layers with fuse-attention have more parameters than layers without fuse-attention.
  template <class S>
  struct fields {
    fused_stack stack;
    arena memory;  // the memory of all parameters

    index_t sets() const { return stack.tied ? 1 : stack.count; }
    fields_of<layer_type, S> at(index_t k) const {
      index_t const set = stack.tied ? 0 : k;
      auto place = rest(layers_before(set));
      return plan<S>(stack.layer(set), place);
    }
    fields_of<norm_type, S> norm(index_t j) const {
      auto place = rest(layers_before(sets()));
      for (index_t i = 0; i < j; ++i) (void)plan<S>(stack.norm(), place);
      return plan<S>(stack.norm(), place);
    }
    /// w_l (l) for l = 1 .. L + 1.
    vec<S> combination(index_t l) const {
      auto place = rest(layers_before(sets()));
      for (index_t i = 0; i < stack.norms(); ++i) (void)plan<S>(stack.norm(), place);
      for (index_t i = 1; i < l; ++i) (void)place.template make<vec<S>>(i);
      return place.template make<vec<S>>(l);
    }
    /// The table of biases by distance (32, h).
    tensor<S, dyn, dyn> distance_table() const {
      auto place = rest(layers_before(sets()));
      for (index_t i = 0; i < stack.norms(); ++i) (void)plan<S>(stack.norm(), place);
      if (stack.link == layer_link::weighted)
        for (index_t l = 1; l <= stack.count + 1; ++l) (void)place.template make<vec<S>>(l);
      return place.template make<tensor<S, dyn, dyn>>(distance_buckets, stack.layer_options.heads);
    }
    template <class V>
    void each(V&& f) {
      for (index_t k = 0; k < sets(); ++k) f(std::to_string(k), at(k));
      if (stack.normed()) f("norm", norm(0));
      if (stack.distances) f("distances", distance_table());
      if (stack.link != layer_link::weighted) return;
      for (index_t j = 0; j <= stack.count; ++j) f("norms." + std::to_string(j), norm(j));
      for (index_t l = 1; l <= stack.count + 1; ++l) f("links." + std::to_string(l) + ".combination", combination(l));
    }

   private:
    arena rest(std::size_t skipped) const {
      auto place = memory;
      (void)place.cut(skipped);
      return place;
    }
    /// The number of bytes of the parameters of the first k layers.
    std::size_t layers_before(index_t k) const {
      if (k == 0) return 0;
      auto const bytes = [&](bool fuse) {
        return planned_bytes(
            [&](arena& a) { (void)plan<S>(layer_type(stack.layer_options, stack.source_width, fuse), a); });
      };
      auto const with = static_cast<std::size_t>(std::popcount(stack.fused & all_fused(k)));
      return with * bytes(true) + (static_cast<std::size_t>(k) - with) * bytes(false);
    }
  };

  struct layer_plan {
    fused_stack stack;
    index_t rows, source_rows;
    keep kept;
    auto operator()(arena& place, index_t k) const {
      return stack.layer(k).plan_saved(place, fused_dims(row_dims(rows), k + 1, source_rows), kept);
    }
  };
  struct norm_plan {
    norm_type norm;
    index_t rows;
    auto operator()(arena& place) const { return norm.plan_saved(place, row_dims(rows)); }
  };
  struct saved {
    fused_stack stack;
    fused_dims dims;
    keep kept;
    layer_states<T> states;  // (L + 1, rows, d): x_0 .. x_L
    /// sum: (L, rows, d), the inputs of the layers;  weighted: (L + 1, rows, d), the normalised states;  previous:
    /// empty.
    layer_states<T> mixed;
    state input;               // weighted: (rows, d), the input of the current layer;  otherwise empty
    state result;              // (rows, d): y; empty if y is x_L
    tensor<T, dyn, dyn> bias;  // (rows, h (2 reach + 1)): the biases by distance; otherwise empty
    series<layer_plan> layers;
    series<norm_plan> norms;

    /// The values that layer k + 1 saves.  Unless everything is kept, the next layer overwrites these values.
    typename layer_type::saved at(index_t k) const { return layers.at(k); }
    typename norm_type::saved norm(index_t j) const { return norms.at(j); }
    /// x_l.
    state x(index_t l) const { return slice(states, l); }
    /// The result of forward.
    state y() const { return result.extent(0) != 0 ? result : x(stack.count); }
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    fields<S> measured{*this, {}};
    auto const bytes = planned_bytes([&](arena& a) {
      for (index_t k = 0; k < measured.sets(); ++k) (void)plan<S>(layer(k), a);
      for (index_t j = 0; j < norms(); ++j) (void)plan<S>(norm(), a);
      if (link == layer_link::weighted)
        for (index_t l = 1; l <= count + 1; ++l) (void)a.template make<vec<S>>(l);
      if (distances) (void)a.template make<tensor<S, dyn, dyn>>(distance_buckets, layer_options.heads);
    });
    measured.memory = place.cut(bytes);
    return measured;
  }

  /// With keep::inputs, only the states are kept.  The backward pass then runs the forward pass of all layers except
  /// the last one again.
  saved plan_saved(arena& place, index_t rows, index_t source_rows, keep kept = keep::everything) const {
    fused_dims const dims(row_dims(rows), count, source_rows);
    auto const states = place.make<layer_states<T>>(count + 1, rows, width());
    auto const mixed = place.make<layer_states<T>>(link == layer_link::previous ? 0
                                                   : link == layer_link::sum    ? count
                                                                                : count + 1,
                                                   rows, width());
    auto const input = place.make<state>(link == layer_link::weighted ? rows : 0, width());
    auto const result = place.make<state>(norms() > 0 ? rows : 0, width());
    arena none;  // an arena without memory
    auto const bias = (distances ? place : none).template make<tensor<T, dyn, dyn>>(distances ? rows : 0, offsets());
    auto const layers =
        plan_series(place, layer_plan{*this, rows, source_rows, kept}, count, kept == keep::everything ? count : 1);
    return {.stack = *this,
            .dims = dims,
            .kept = kept,
            .states = states,
            .mixed = mixed,
            .input = input,
            .result = result,
            .bias = bias,
            .layers = layers,
            .norms = plan_series(place, norm_plan{norm(), rows}, norms())};
  }

  /// Reads x_0 from s.x(0).  Overwrites s.y().
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, fused_input<T, D> const& in, saved const& s) const {
    if (distances) distance_bias(ex, bias_scale(), as_matrix(read_only(w.distance_table())), as_matrix(s.bias));
    each_layer(ex, w, in, s, [&](index_t k, fused_input<T, D> const& x) {
      layer(k).forward(ex, c.child(k), w.at(k), x, s.at(k), s.x(k + 1));
    });
  }
  /// Computes the next token of every sequence that a decoder generates (fused_layer::extend).  For layer k + 1,
  /// cache(k) returns the attention_cache, and source(k) returns the keys and values of the source (source rows, 2 d).
  template <backend Ex, class Cache, class Source>
  void extend(Ex& ex, call const& c, fields<T const> w, fused_input<T, D> const& in, saved const& s, Cache&& cache,
              Source&& source) const {
    each_layer(ex, w, in, s, [&](index_t k, fused_input<T, D> const& x) {
      layer(k).extend(ex, c.child(k), w.at(k), x, s.at(k), s.x(k + 1), cache(k), source(k));
    });
  }

  /// Overwrites dx0 (rows, d).  dy is the gradient of s.y().  Adds to d_source (source rows, e), the gradient of the
  /// source, unless it has no rows.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, fused_input<T, D> const& in, saved const& s,
                const_view<state> dy, state dx0, fields<T> gradient, tensor<T, dyn, dyn> d_source) const {
    TRIAD_EXPECTS(s.kept != keep::nothing,
                  "fused_stack: backward with memory planned for inference, expected keep::everything or keep::inputs");
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const rows = dy.extent(0);
    auto const d = scratch.template make<layer_states<T>>(count + 1, rows, width());
    auto const d_mixed =
        scratch.template make<layer_states<T>>(link == layer_link::weighted ? count + 1 : 0, rows, width());
    auto const d_input = scratch.template make<state>(rows, width()),
               again = scratch.template make<state>(s.kept == keep::inputs && count > 1 ? rows : 0, width());
    auto const d_sum = scratch.template make<state>(link == layer_link::sum ? rows : 0, width());
    fill(ex, T(0), d);
    fill(ex, T(0), d_mixed);
    fill(ex, T(0), d_sum);
    arena none;  // an arena without memory
    auto const d_bias = (distances ? scratch : none).template make<vec<T>>(offsets());
    if (distances) fill(ex, T(0), d_bias);
    if (link == layer_link::weighted) {
      unmix(ex, w, s, count + 1, dy, d_mixed, gradient);
      unnormalise(ex, c, w, s, count, d_mixed, d, gradient);
    } else if (normed()) {
      norm().backward(ex, c, w.norm(0), s.x(count), s.norm(0), dy, slice(d, count), gradient.norm(0));
    } else {
      transform(ex, unchanged{}, dy, slice(d, count));
    }
    for (index_t k = count - 1; k >= 0; --k) {
      if (link == layer_link::weighted) mix(ex, w, s, k + 1, s.input);
      if (s.kept == keep::inputs && k + 1 < count)  // s.at(k) still has forward's values of the last layer
        layer(k).forward(ex, c.child(k), w.at(k), input_at(in, s, k), s.at(k), again);
      auto x = input_at(in, s, k);
      x.bias.gradient = d_bias;
      layer(k).backward(ex, c.child(k), w.at(k), x, s.at(k), slice(d, k + 1), d_input, gradient.at(k), d, d_source);
      if (link == layer_link::weighted) {
        unmix(ex, w, s, k + 1, d_input, d_mixed, gradient);
        unnormalise(ex, c, w, s, k, d_mixed, d, gradient);
      } else if (link == layer_link::sum) {  // x_k is a term of the input of layer k + 1 and of all later inputs
        transform(ex, plus{}, d_sum, d_input, d_sum);
        transform(ex, plus{}, slice(d, k), d_sum, slice(d, k));
      } else {
        transform(ex, plus{}, slice(d, k), d_input, slice(d, k));
      }
    }
    if (distances) distance_bias_grad(ex, bias_scale(), vec<T const>(d_bias), as_matrix(gradient.distance_table()));
    transform(ex, unchanged{}, slice(d, 0), dx0);
  }

  /// Returns the input of layer k + 1.
  fused_input<T, D> input_at(fused_input<T, D> in, saved const& s, index_t k) const {
    in.x = link == layer_link::previous ? s.x(k) : link == layer_link::sum ? slice(s.mixed, k) : s.input;
    in.states = s.states;
    in.layers = k + 1;
    if (distances) {
      in.bias.values = as_matrix(read_only(s.bias));
      in.bias.reach = distance_reach;
    }
    return in;
  }

 private:
  /// Calls pass(k, input) for every layer; pass() computes state k + 1.  Then computes the result, unless the result is
  /// a state.
  template <backend Ex, class Pass>
  void each_layer(Ex& ex, fields<T const> w, fused_input<T, D> const& in, saved const& s, Pass&& pass) const {
    for (index_t k = 0; k < count; ++k) {
      enter(ex, w, s, k);
      pass(k, input_at(in, s, k));
    }
    if (link == layer_link::weighted) {
      normalise(ex, w, s, count);
      mix(ex, w, s, count + 1, s.result);
    } else if (normed()) {
      norm().forward(ex, call{}, w.norm(0), s.x(count), s.norm(0), s.result);
    }
  }

  static state slice(layer_states<T> v, index_t k) { return state(triad::slice(v, k)); }
  /// Returns the first l states as a matrix (l, rows d) with one state in each row.
  static tensor<T, dyn, dyn> stacked(layer_states<T> v, index_t l) { return reshape(v, l, v.extent(1) * v.extent(2)); }

  /// Computes the input of layer k + 1, unless the input is a state.
  template <backend Ex>
  void enter(Ex& ex, fields<T const> w, saved const& s, index_t k) const {
    if (link == layer_link::sum) {
      if (k == 0)
        transform(ex, unchanged{}, s.x(0), slice(s.mixed, 0));
      else
        transform(ex, plus{}, slice(s.mixed, k - 1), s.x(k), slice(s.mixed, k));
    } else if (link == layer_link::weighted) {
      normalise(ex, w, s, k);
      mix(ex, w, s, k + 1, s.input);
    }
  }
  template <backend Ex>
  void normalise(Ex& ex, fields<T const> w, saved const& s, index_t j) const {
    norm().forward(ex, call{}, w.norm(j), s.x(j), s.norm(j), slice(s.mixed, j));
  }
  /// Runs the backward pass of the norm of state j.  Adds to the gradient of x_j.
  template <backend Ex>
  void unnormalise(Ex& ex, call const& c, fields<T const> w, saved const& s, index_t j, layer_states<T> d_mixed,
                   layer_states<T> d, fields<T> gradient) const {
    norm().backward(ex, c, w.norm(j), s.x(j), s.norm(j), slice(d_mixed, j), slice(d, j), gradient.norm(j),
                    as_matrix(read_only(slice(d, j))));
  }
  /// Overwrites `to` with input_l (layer_link::weighted).
  template <backend Ex>
  void mix(Ex& ex, fields<T const> w, saved const& s, index_t l, state to) const {
    matmul(ex, as_row(w.combination(l)), stacked(s.mixed, l), as_row(to));
  }
  template <backend Ex>
  void unmix(Ex& ex, fields<T const> w, saved const& s, index_t l, const_view<state> dx, layer_states<T> d_mixed,
             fields<T> gradient) const {
    matmul_add(ex, transposed(as_row(w.combination(l))), as_row(dx), stacked(d_mixed, l));
    matmul_add(ex, as_row(dx), transposed(stacked(s.mixed, l)), as_row(gradient.combination(l)));
  }
};

}  // namespace triad
