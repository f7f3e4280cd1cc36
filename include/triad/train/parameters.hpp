// A model's parameters in a backend's memory, and beside them gradients and Adam's moments: one contiguous buffer each.
// SPDX-License-Identifier: Apache-2.0
//
// Every buffer has the same layout, the one that the model's plan_params gives it, so a flat loop over all four is an
// optimiser step.  What lies between two tensors is zero in each buffer and stays zero.
#pragma once

#include <type_traits>
#include <utility>

#include "triad/core/buffer.hpp"
#include "triad/core/fields.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"

namespace triad {

/// What a parameter_set holds: each kind includes the ones before it.
enum class holding {
  values,     // inference
  gradients,  // finite differences, one's own optimiser
  moments,    // training with Adam
};

namespace detail {
template <class Model>
struct scalar_of {
  using type = element_t<typename Model::output>;
};
template <class Model>
  requires requires { typename Model::value_type; }
struct scalar_of<Model> {
  using type = typename Model::value_type;
};
}  // namespace detail

/// The type of a model's parameters: its value_type, else the element type of its output.
template <class Model>
using scalar_t = typename detail::scalar_of<Model>::type;

/// Zero at first; see initialize.hpp and io/checkpoint.hpp for better values.
template <class Model, backend Ex>
class parameter_set {
 public:
  using memory = typename Ex::memory;
  using value_type = scalar_t<Model>;
  template <class S>
  using fields = decltype(std::declval<Model const&>().template plan_params<S>(std::declval<arena&>()));

  /// where: memory_of(ex) of a device's backend; hosts need none.
  explicit parameter_set(Model const& model, holding what = holding::moments, memory where = {}) : model_(model), what_(what) {
    auto const bytes = planned_bytes([&](arena& a) { (void)model_.template plan_params<value_type>(a); });
    values_ = buffer<memory>(bytes, where);
    if (what >= holding::gradients) gradients_ = buffer<memory>(bytes, where);
    if (what >= holding::moments) {
      first_ = buffer<memory>(bytes, where);
      second_ = buffer<memory>(bytes, where);
    }
  }

  Model const& model() const { return model_; }
  /// Where the tensors lie: copies of them go through it.
  memory const& where() const { return values_.memory(); }
  bool holds_gradients() const { return what_ >= holding::gradients; }
  bool holds_moments() const { return what_ >= holding::moments; }
  /// Of all buffers together.
  std::size_t bytes() const { return values_.bytes() + gradients_.bytes() + first_.bytes() + second_.bytes(); }

  fields<value_type const> values() const { return plan<value_type const>(values_); }
  fields<value_type> mutable_values() { return plan<value_type>(values_); }
  fields<value_type> gradients() { return plan<value_type>(expected(gradients_, holding::gradients)); }
  /// Adam's running means of the gradient and of its square.
  fields<value_type> first_moments() { return plan<value_type>(expected(first_, holding::moments)); }
  fields<value_type> second_moments() { return plan<value_type>(expected(second_, holding::moments)); }
  fields<value_type const> first_moments() const { return plan<value_type const>(expected(first_, holding::moments)); }
  fields<value_type const> second_moments() const { return plan<value_type const>(expected(second_, holding::moments)); }

  // The same memory as one row, with what lies between the tensors.
  vec<value_type> flat_values() { return flat(values_); }
  vec<value_type> flat_gradients() { return flat(expected(gradients_, holding::gradients)); }
  vec<value_type> flat_first_moments() { return flat(expected(first_, holding::moments)); }
  vec<value_type> flat_second_moments() { return flat(expected(second_, holding::moments)); }

  void zero_gradients(Ex& ex) { fill(ex, value_type(0), flat_gradients()); }

 private:
  template <class S>
  fields<S> plan(buffer<memory> const& b) const {
    auto place = b.place();
    return model_.template plan_params<S>(place);
  }
  static vec<value_type> flat(buffer<memory> const& b) {
    return make_vec(static_cast<value_type*>(b.data()), static_cast<index_t>(b.bytes() / sizeof(value_type)));
  }
  buffer<memory> const& expected(buffer<memory> const& b, holding needed) const {
    TRIAD_EXPECTS(what_ >= needed, "parameter_set: it was made to hold less than is asked for; say holding::moments to train");
    return b;
  }

  Model model_;
  holding what_;
  buffer<memory> values_, gradients_, first_, second_;
};

}  // namespace triad
