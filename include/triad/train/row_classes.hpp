// The class that a model says of each row: the largest logit's, on the host, whatever the backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/cross_entropy.hpp"

namespace triad {

/// Keeps its memory: a call of no more rows than one before allocates nothing.
template <backend Ex>
class row_classes {
 public:
  using memory = typename Ex::memory;

  explicit row_classes(Ex& ex) : ex_(ex), there_(0, memory_of(ex)) {}

  /// Of logits (rows, classes), one number a row, the first of equals; until the next call.  Waits for the device.
  template <class Logits>
  std::vector<index_t> const& operator()(Logits logits) {
    index_t const rows = logits.extent(0);
    auto const count = static_cast<std::size_t>(rows), bytes = count * sizeof(index_t);
    if (there_.bytes() < bytes) there_ = buffer<memory>(bytes, memory_of(ex_));
    here_.resize(count);
    argmax_rows(ex_, logits, make_vec(static_cast<index_t*>(there_.data()), rows));
    there_.memory().to_host(here_.data(), there_.data(), bytes);
    return here_;
  }

 private:
  Ex& ex_;
  buffer<memory> there_;
  std::vector<index_t> here_;
};

namespace detail {
/// Whether an output is (rows, classes).
template <class Output>
constexpr bool has_classes() {
  if constexpr (requires { Output::rank(); })
    return Output::rank() == 2;
  else
    return false;
}
}  // namespace detail

}  // namespace triad
