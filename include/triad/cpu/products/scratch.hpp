// Memory of a thread for the packed and rounded factors of its products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "triad/cpu/kernels/compiled_for.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// What a part of a thread's scratch memory holds.
enum class scratch_use {
  right_factor,
  second_right_factor,
  padded_factor,
  left_block,
  right_block,
  sums,
  result_block,
  widened,
  result,
  dropped,
  uses
};

/// Returns at least `bytes` bytes of memory of the calling thread, aligned to a cache line.  The memory is valid until
/// the thread asks for the same use again.  It grows to the largest request and is freed when the thread ends, so
/// repeated steps of a training do not allocate.
inline std::byte* product_scratch(scratch_use use, std::size_t bytes) {
  constexpr std::align_val_t line{64};
  struct freed {
    void operator()(std::byte* p) const { ::operator delete(p, line); }
  };
  struct part {
    std::unique_ptr<std::byte, freed> data;
    std::size_t size = 0;
  };
  thread_local part parts[static_cast<std::size_t>(scratch_use::uses)];
  auto& mine = parts[static_cast<std::size_t>(use)];
  if (mine.size < bytes) {
    mine.data.reset();
    mine.size = 0;
    std::size_t const grown = (bytes + bytes / 4 + 4095) / 4096 * 4096;
    mine.data.reset(static_cast<std::byte*>(::operator new(grown, line)));
    mine.size = grown;
  }
  return mine.data.get();
}

}  // namespace detail

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
