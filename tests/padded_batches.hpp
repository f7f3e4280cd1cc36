// Code that tests of padded batches share: a backend that pads on the host, an upload that fails, and the results of
// one step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/reference/reference.hpp"

namespace triad::test {

/// Host memory that refuses copies while `refuses` is true.
struct refusing_memory : host_memory {
  static inline bool refuses = false;
  static void from_host(void* to, void const* from, std::size_t bytes) {
    if (refuses) throw data_error("the copy was refused");
    host_memory::from_host(to, from, bytes);
  }
};

/// The reference backend, except that it reports that it replays recorded steps. So loaders pad their batches.
struct replaying : reference::backend {
  using memory = refusing_memory;
};
template <class Work>
void do_replay(replaying&, std::uint64_t, Work&& work) {
  work();
}
static_assert(replays<replaying> && !replays<reference::backend>);

/// The loss of a batch, and the gradient of every parameter.
struct outcome {
  double loss;
  std::vector<double> gradients;
};
template <class Learner, class Input, class Answers>
outcome outcome_of(Learner& learner, Input const& in, Answers const& targets) {
  learner.compute_gradient(in, targets);
  auto const all = learner.parameters().flat_gradients();
  return {learner.loss(), {all.data_handle(), all.data_handle() + all.size()}};
}
inline double largest_difference(outcome const& a, outcome const& b) {
  double most = std::abs(a.loss - b.loss);
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    double const apart = std::abs(a.gradients[i] - b.gradients[i]);
    most = apart <= most ? most : apart;  // a NaN stays
  }
  return most;
}

}  // namespace triad::test
