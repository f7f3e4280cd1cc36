// The concept of a model: a layer with a loss, and with functions from which a trainer plans memory.
// SPDX-License-Identifier: Apache-2.0
//
//   value_type, input, output, answers            T; a batch, with each(f) (core/batch_views.hpp) and dims() or
//                                                 graphs.dims; the logits, a view or a struct with each(f) of views;
//                                                 the targets, a view or a struct with each(f)
//   fields<S>, saved, plan_params, plan_saved     as of a layer (layers/layer.hpp)
//   plan_output(arena&, dims)                     memory of the logits; also used for their gradient
//   measured_input(dims), measured_answers(dims)  a batch of these sizes without memory
//   forward(ex, call, values, batch, saved, logits)
//   loss(ex, scratch, batch, logits, answers, loss, d_logits)         a mean over answers, and its gradient
//   backward(ex, call, values, batch, saved, d_logits, gradient)      adds to gradient
//
// has_gradient(path) is optional.  It returns false for a parameter that never has a gradient.  backward must not write
// the gradient of such a parameter.
//
// planned_with is optional.  It is the type of dims.  Without planned_with, dims is a graph_dims.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "triad/layers/layer.hpp"

namespace triad {

namespace detail {
template <class M>
concept names_model_types = names_layer_types<M> && requires {
  typename M::value_type;
  typename M::answers;
};
template <class M>
concept plans_output = requires(M const& m, arena& place, layer_dims<M> const& dims) {
  { m.plan_output(place, dims) } -> std::convertible_to<typename M::output>;
};
template <class M>
concept measures_batches = requires(M const& m, layer_dims<M> const& dims) {
  { m.measured_input(dims) } -> std::convertible_to<typename M::input>;
  { m.measured_answers(dims) } -> std::convertible_to<typename M::answers>;
};

/// Checks at compile time that a model has all parts.  The message names a missing part.
template <class M>
constexpr bool expect_model() {
  static_assert(names_model_types<M>,
                "a model names its value_type, input, output, answers, saved and fields<S> (triad/train/model.hpp)");
  if constexpr (names_model_types<M>) {
    static_assert(plans_parameters<M>, "a model has plan_params<S>(arena&), which gives its fields<S>");
    static_assert(plans_saved<M>, "a model has plan_saved(arena&, dims, keep), which gives its saved");
    static_assert(plans_output<M>, "a model has plan_output(arena&, dims), which says where its logits lie");
    static_assert(measures_batches<M>,
                  "a model has measured_input(dims) and measured_answers(dims), batches without memory");
  }
  return true;
}

/// Whether the model says that the parameter with this path never has a gradient.
template <class M>
struct without_gradient {
  M const& model;
  bool operator()(std::string const& path) const {
    if constexpr (requires { model.has_gradient(path); })
      return !model.has_gradient(path);
    else
      return false;
  }
};
}  // namespace detail

/// A type that a trainer can train.  The arguments of forward(), loss() and backward() are checked only where these
/// functions are called.
template <class M>
concept model = layer<M> && detail::names_model_types<M> && detail::plans_output<M> && detail::measures_batches<M>;

}  // namespace triad
