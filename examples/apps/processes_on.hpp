// The processes of this program to a learner on one backend: rows on a GPU go by NCCL where that is possible.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "device_rows.hpp"
#include "triad/train/communicator.hpp"
#include "world.hpp"

namespace triad::apps {

/// A communicator.  The backend outlives it.
template <class Ex>
class processes_on {
 public:
  /// learns: rows will be exchanged.  All processes make it at once where it is so.
  processes_on([[maybe_unused]] Ex& ex, [[maybe_unused]] bool learns) {
    if constexpr (!std::is_same_v<typename Ex::memory, host_memory>)
      if (learns && world().size() > 1) rows_ = rows_by_nccl(ex.device(), ex.stream());
  }

  int rank() const { return world().rank(); }
  int size() const { return world().size(); }
  template <class T>
  void exchange(Ex& ex, int partner, vec<T const> mine, vec<T> theirs) {
    if (rows_ == nullptr) return world().exchange(ex, partner, mine, theirs);
    rows_->exchange(partner, mine.data_handle(), static_cast<std::size_t>(mine.extent(0)) * sizeof(T),
                    theirs.data_handle(), static_cast<std::size_t>(theirs.extent(0)) * sizeof(T));
  }
  void barrier() { world().barrier(); }

 private:
  std::unique_ptr<device_rows> rows_;  // null: through the host's memory
};

}  // namespace triad::apps
