// Prepares a batch on the host, and moves it to a backend's memory in a single copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/contracts.hpp"

namespace triad {

/// A buffer in a backend's memory, and a buffer of the same size on the host.  A batch is prepared in the buffer on the
/// host.
template <backend Ex>
class batch_upload {
 public:
  using memory = typename Ex::memory;

  batch_upload(std::size_t bytes, memory where) : here_(bytes), there_(bytes, where) {}

  /// Calls fill(put), then copies all values that `fill` passed to `put` to the backend's memory.  put(values, count)
  /// returns a view of the first `count` values in the backend's memory.  The views are valid until the next call.
  template <class Fill>
  auto operator()(Fill&& fill) {
    auto here = here_.place(), there = there_.place();
    auto const put = [&]<class V>(std::vector<V> const& values, index_t count) {
      TRIAD_EXPECTS(count >= 0 && count <= static_cast<index_t>(values.size()),
                    "batch_upload: " + std::to_string(count) + " values, expected 0 to " +
                        std::to_string(values.size()) + ", as many as were given");
      auto const copy = here.template make<vec<V>>(count);
      std::copy_n(values.data(), count, copy.data_handle());
      return vec<V const>(there.template make<vec<V>>(count));
    };
    auto const batch = fill(put);
    there_.memory().from_host(there_.data(), here_.data(), here.used());  // the only copy
    return batch;
  }

 private:
  buffer<> here_;
  buffer<memory> there_;
};

}  // namespace triad
