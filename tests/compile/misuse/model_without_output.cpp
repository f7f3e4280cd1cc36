// Uses a model that does not declare where its logits are.
// expect: a model has plan_output(arena&, dims), which says where its logits lie
// SPDX-License-Identifier: Apache-2.0
#include "triad/reference/reference.hpp"
#include "triad/train/trainer.hpp"

using namespace triad;

struct silent {
  using value_type = float;
  using input = vec<float const>;
  using output = vec<float>;
  using answers = vec<index_t const>;
  struct saved {};
  template <class S>
  struct fields {
    template <class F>
    void each(F&&) {}
  };
  template <class S = float>
  fields<S> plan_params(arena&) const {
    return {};
  }
  saved plan_saved(arena&, graph_dims const&, keep) const { return {}; }
#ifndef MISUSE
  output plan_output(arena& place, graph_dims const& dims) const { return place.make<output>(dims.graphs); }
#endif
  static input measured_input(graph_dims const& d) { return input(nullptr, d.graphs); }
  static answers measured_answers(graph_dims const& d) { return answers(nullptr, d.graphs); }
};

using held = trainer<silent, reference::backend>;
static_assert(sizeof(held) > 0);
