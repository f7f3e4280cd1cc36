// The concept of a loader of batches.
// SPDX-License-Identifier: Apache-2.0
//
//   memory          the type of the memory to which batches are copied
//   clear()         starts an empty batch
//   has_room(...)   returns true if one more sample of this size fits; the arguments depend on the loader
//   add(...)        adds a sample
//   dims()          returns the current sizes of the batch, with which a model plans its memory
//   upload()        returns the batch and its targets, as a pair, in the backend's memory; valid until the next call
#pragma once

#include <type_traits>

namespace triad {

/// A class that fills batches and copies them to a backend's memory.
template <class L>
concept loader = requires(L& batch) {
  typename L::memory;
  batch.clear();
  requires !std::is_void_v<decltype(batch.dims())>;
  requires !std::is_void_v<decltype(batch.upload())>;
};

}  // namespace triad
