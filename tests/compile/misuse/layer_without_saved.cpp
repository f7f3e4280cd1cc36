// Stacks layers that do not declare which values they save for backward.
// expect: a layer has plan_saved(arena&, dims, keep), which gives its saved
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/repeat.hpp"

using namespace triad;

struct doubled {
  using input = tensor<float const, dyn, 4>;
  using output = tensor<float, dyn, 4>;
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
#ifndef MISUSE
  saved plan_saved(arena&, row_dims, keep) const { return {}; }
#endif
  static constexpr index_t width() { return 4; }
};

static_assert(sizeof(repeat<float, doubled>) > 0);
