// Computes the class of each row of logits, which is the index of the largest logit.  The result is in host memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/cross_entropy.hpp"

namespace triad {

/// Throws training_failure if argmax_rows returned -1 for a row, which means that the row has no class.
inline void expect_classes(std::vector<index_t> const& classes) {
  auto const none = std::find(classes.begin(), classes.end(), index_t{-1});
  if (none != classes.end())
    throw training_failure("classes: a logit of row " + std::to_string(none - classes.begin()) +
                           " is nan, expected a number; the weights are too large or not finite: take earlier ones, "
                           "or train again with a lower learning rate");
}

/// A function object that keeps its memory.  A call allocates only if it has more rows than every earlier call.
template <backend Ex>
class row_classes {
 public:
  using memory = typename Ex::memory;

  explicit row_classes(Ex& ex) : ex_(ex), there_(0, memory_of(ex)) {}

  /// Returns the class of each row of logits (rows, classes).  If several logits are the largest, the first of them
  /// counts.  The result is valid until the next call.  Waits for the device.  Throws training_failure if a logit is
  /// NaN.
  template <class Logits>
  std::vector<index_t> const& operator()(Logits logits) {
    expect_classes(or_none(logits));
    return here_;
  }
  /// Returns the classes, with -1 for each row that has a NaN.
  template <class Logits>
  std::vector<index_t> const& or_none(Logits logits) {
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
/// Returns true if an output has the shape (rows, classes).
template <class Output>
constexpr bool has_classes() {
  if constexpr (requires { Output::rank(); })
    return Output::rank() == 2;
  else
    return false;
}
}  // namespace detail

}  // namespace triad
