// What a loader of batches is.
// SPDX-License-Identifier: Apache-2.0
//
//   memory          of the backend that batches are uploaded to
//   clear()         begins a batch
//   has_room(...)   whether one more sample of such a size fits; every loader has sizes of its own
//   add(...)        adds a sample
//   dims()          what the batch has by now, as a model's memory is planned with
//   upload()        the batch and its targets, as a pair, in the backend's memory until the next call
#pragma once

#include <type_traits>

namespace triad {

/// Fills batches and hands them over.
template <class L>
concept loader = requires(L& batch) {
  typename L::memory;
  batch.clear();
  requires !std::is_void_v<decltype(batch.dims())>;
  requires !std::is_void_v<decltype(batch.upload())>;
};

}  // namespace triad
