// Batches from a list of examples in random order. A batch is determined by the seed and by its number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "permute.hpp"

namespace triad::programs {

class epoch_batches {
 public:
  /// Divides `count` examples into batches of `batch` examples. The last batch of an epoch may be smaller. If
  /// `shuffle`, every epoch has a new order.
  epoch_batches(std::size_t count, int batch, bool shuffle, std::uint64_t seed)
      : order_(count), batch_(batch), shuffle_(shuffle), seed_(seed) {}

  std::int64_t epoch_updates() const { return (static_cast<std::int64_t>(order_.size()) + batch_ - 1) / batch_; }

  /// Returns the examples of an update, as indices into the list.
  std::span<std::size_t const> batch(std::int64_t update) {
    auto const epoch = shuffle_ ? update / epoch_updates() : 0;
    if (arranged_ != epoch) permute(order_, seed_, static_cast<std::uint64_t>(epoch) + 1);
    arranged_ = epoch;
    auto const first = static_cast<std::size_t>(update % epoch_updates() * batch_);
    return std::span(order_).subspan(first, std::min(static_cast<std::size_t>(batch_), order_.size() - first));
  }

 private:
  std::vector<std::size_t> order_;
  int batch_;
  bool shuffle_;
  std::uint64_t seed_;
  std::int64_t arranged_ = -1;  // the epoch of order_
};

}  // namespace triad::programs
