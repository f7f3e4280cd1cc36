// Batches of pairs with a limited number of tokens.  Every epoch has a new order.  A batch is determined by the seed
// and by its number.
// SPDX-License-Identifier: Apache-2.0
//
// In each epoch the pairs are shuffled and cut into pools of about 16 batches.  The pairs of a pool are sorted by
// length.  A new batch begins if the next pair would exceed the limit of tokens on one side.  Then the batches are
// shuffled.  So the pairs of a batch have about the same length, but the batches differ from epoch to epoch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "permute.hpp"
#include "shared/backend/room_advice.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"

namespace triad::programs {

/// The numbers of tokens in a pair, with the end tokens.
struct pair_length {
  index_t source, target;
};

class token_batches {
 public:
  static constexpr index_t batches_of_a_pool = 16;

  /// A batch has at most `tokens` tokens on each side, and at most `most` pairs.  If `most` is 0, the number of pairs
  /// is not limited.  Throws data_error if a single pair has too many tokens.
  token_batches(std::vector<pair_length> pairs, index_t tokens, std::uint64_t seed, index_t most = 0)
      : pairs_(std::move(pairs)), tokens_(tokens), most_(most), seed_(seed) {
    if (pairs_.empty()) throw data_error("there is no pair to train on");
    std::vector<sized_example> longer;
    auto const longest = [&](std::size_t i) { return std::max(pairs_[i].source, pairs_[i].target); };
    add_larger(longer, tokens_, pairs_.size(), longest, [](std::size_t i) { return std::to_string(i + 1); });
    if (longer.empty()) return;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) worst = longest(i) > longest(worst) ? i : worst;
    auto const& p = pairs_[worst];
    throw data_error((longer.size() == 1
                          ? "training pair " + longer.front().place + " has " + std::to_string(p.source) +
                                " source and " + std::to_string(p.target) + " target tokens"
                          : "training pairs " + told_sizes(longer, "tokens on their longer side")) +
                     ", with their ends, of the pairs that are left; give --tokens " + std::to_string(longest(worst)) +
                     ", or leave long targets out with --max-train-length");
  }

  /// Returns the pairs of an update, as indices into the list.
  std::span<std::size_t const> batch(std::int64_t update) {
    arrange(epoch_of(update));
    auto const b = shuffled_[static_cast<std::size_t>(update - first_of(arranged_))];
    return std::span(order_).subspan(cuts_[b], cuts_[b + 1] - cuts_[b]);
  }

  /// Returns the number of the first update of an epoch.  It equals the number of updates in all earlier epochs.
  std::int64_t first_of(std::int64_t epoch) {
    while (static_cast<std::int64_t>(first_.size()) <= epoch) {
      arrange(static_cast<std::int64_t>(first_.size()) - 1);
      first_.push_back(first_.back() + static_cast<std::int64_t>(shuffled_.size()));
    }
    return first_[static_cast<std::size_t>(epoch)];
  }

  std::int64_t epoch_of(std::int64_t update) {
    while (first_.back() <= update) (void)first_of(static_cast<std::int64_t>(first_.size()));
    return std::upper_bound(first_.begin(), first_.end(), update) - first_.begin() - 1;
  }

 private:
  void arrange(std::int64_t epoch) {
    if (epoch == arranged_) return;
    arranged_ = epoch;
    auto const stream = static_cast<std::uint64_t>(epoch) + 1;
    order_.resize(pairs_.size());
    permute(order_, seed_, stream);
    cuts_ = {0};
    for (std::size_t first = 0; first < order_.size();) {
      std::size_t last = first;
      for (index_t most = 0; last < order_.size() && most < batches_of_a_pool * tokens_; ++last)
        most += std::max(of(last).source, of(last).target);
      auto const begin = order_.begin() + static_cast<std::ptrdiff_t>(first),
                 end = order_.begin() + static_cast<std::ptrdiff_t>(last);
      std::stable_sort(begin, end, [&](std::size_t a, std::size_t b) {
        return std::pair(pairs_[a].target, pairs_[a].source) < std::pair(pairs_[b].target, pairs_[b].source);
      });
      cut(first, last);
      first = last;
    }
    shuffled_.resize(cuts_.size() - 1);
    permute(shuffled_, seed_, (std::uint64_t{1} << 32U) + stream);
  }

  void cut(std::size_t first, std::size_t last) {
    pair_length sum{0, 0};
    for (auto i = first; i < last; ++i) {
      sum = {sum.source + of(i).source, sum.target + of(i).target};
      bool const full = most_ > 0 && i - cuts_.back() == static_cast<std::size_t>(most_);
      if (std::max(sum.source, sum.target) <= tokens_ && !full) continue;
      cuts_.push_back(i);
      sum = of(i);
    }
    cuts_.push_back(last);
  }

  pair_length const& of(std::size_t place) const { return pairs_[order_[place]]; }

  std::vector<pair_length> pairs_;
  index_t tokens_, most_;
  std::uint64_t seed_;
  std::vector<std::int64_t> first_{0};  // the first update of each epoch
  std::int64_t arranged_ = -1;          // the epoch of order_, cuts_ and shuffled_
  std::vector<std::size_t> order_, cuts_, shuffled_;
};

}  // namespace triad::programs
