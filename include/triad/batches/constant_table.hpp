// A constant table in a backend's memory, such as sinusoidal position encodings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "triad/core/buffer.hpp"
#include "triad/core/views.hpp"

namespace triad {

/// A table in a backend's memory.  It is copied there once, and no batch changes it.
template <class T, class Memory>
class constant_table {
 public:
  /// `values` has the rows of the table one after another, with `columns` numbers in each row.  Converts the numbers to
  /// T.
  template <class V>
  constant_table(std::vector<V> const& values, index_t columns, Memory where)
      : rows_(columns > 0 ? static_cast<index_t>(values.size()) / columns : 0),
        columns_(columns),
        memory_(values.size() * sizeof(T) + arena_slack, where) {
    std::vector<T> const kept(values.begin(), values.end());
    memory_.memory().from_host(memory_.data(), kept.data(), kept.size() * sizeof(T));
  }
  tensor<T const, dyn, dyn> view() const {
    return tensor<T const, dyn, dyn>(static_cast<T const*>(memory_.data()), rows_, columns_);
  }

 private:
  index_t rows_, columns_;
  buffer<Memory> memory_;
};

}  // namespace triad
