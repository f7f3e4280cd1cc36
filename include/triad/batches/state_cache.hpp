// Keeps the last states of an encoder whose parameters are constants, so that each sequence is encoded once.
// SPDX-License-Identifier: Apache-2.0
//
// A training pass reads every source once an epoch.  If the encoder is frozen, its states of a source are the same in
// every epoch (fused_transformer_options::frozen_encoder).  The cache is in host memory, and a batch takes the states
// from it (pair_batch::source_states).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "triad/core/bfloat16.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/sizes.hpp"

namespace triad {

namespace detail {
/// Hashes and compares sequences of tokens, which may be vectors or spans.
struct token_hash {
  using is_transparent = void;
  std::size_t operator()(std::span<index_t const> tokens) const {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, over whole tokens
    for (auto const token : tokens) hash = (hash ^ static_cast<std::uint64_t>(token)) * 0x100000001b3u;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};
struct same_tokens {
  using is_transparent = void;
  bool operator()(std::span<index_t const> a, std::span<index_t const> b) const { return std::ranges::equal(a, b); }
};
}  // namespace detail

/// How state_cache stores states.  `bfloat16` halves the memory.  It changes no bit of a result if only products that
/// round their factors to bfloat16 read the states.
enum class stored_states { exact, bfloat16 };

/// The states (rows, e) of sequences.  A sequence is found by its tokens.  It may have more rows than tokens, for marks
/// that every sequence has.  Allocates memory only when it keeps the states of another sequence.
template <std::floating_point T>
class state_cache {
 public:
  /// `width` is e.  `limit` is the largest number of bytes of states.
  state_cache(index_t width, std::size_t limit, stored_states how = stored_states::exact)
      : width_(checked_size("state_cache", {"width", width})), limit_(limit), how_(how) {
    TRIAD_EXPECTS((how == stored_states::exact || std::same_as<T, float>),
                  "state_cache: bfloat16 for states that are not float, expected stored_states::exact");
  }

  /// The number of bytes of the states of a sequence of `rows` rows.
  std::size_t bytes_of(index_t rows) const { return static_cast<std::size_t>(rows * width_) * value_bytes(); }
  /// The largest number of bytes of states.
  std::size_t limit() const { return limit_; }
  /// The number of bytes of all states that are kept.
  std::size_t bytes() const { return bytes_; }
  /// The number of sequences whose states are kept.
  std::size_t sequences() const { return kept_.size(); }
  bool has(std::span<index_t const> tokens) const { return kept_.contains(tokens); }

  /// Keeps a copy of the states (rows, e), if they are not kept already and the limit allows it.  Returns whether the
  /// states are kept.
  bool keep(std::span<index_t const> tokens, std::span<T const> states) {
    TRIAD_EXPECTS(
        states.size() % static_cast<std::size_t>(width_) == 0,
        "state_cache: " + std::to_string(states.size()) + " values, expected rows of " + std::to_string(width_));
    if (has(tokens)) return true;
    auto const bytes = states.size() * value_bytes();
    if (bytes > limit_ - bytes_) return false;
    auto at = std::make_unique<std::byte[]>(bytes);
    if (how_ == stored_states::exact) {
      std::ranges::copy(std::as_bytes(states), at.get());
    } else {
      auto* const to = reinterpret_cast<bfloat16*>(at.get());
      std::ranges::transform(states, to, [](T v) { return to_bfloat16(static_cast<float>(v)); });
    }
    kept_.emplace(std::vector<index_t>(tokens.begin(), tokens.end()), entry{std::move(at), states.size()});
    bytes_ += bytes;
    return true;
  }
  /// Rounds states as keep() and copy() do.
  void round(std::span<T> states) const {
    if (how_ == stored_states::exact) return;
    for (T& v : states) v = static_cast<T>(from_bfloat16(to_bfloat16(static_cast<float>(v))));
  }
  /// Copies the kept states of a sequence to `to` (rows, e).  Returns false if they are not kept.
  bool copy(std::span<index_t const> tokens, std::span<T> to) const {
    auto const found = kept_.find(tokens);
    if (found == kept_.end()) return false;
    auto const& [states, count] = found->second;
    TRIAD_EXPECTS(to.size() == count, "state_cache: memory for " + std::to_string(to.size()) + " values, expected " +
                                          std::to_string(count) + ", which are kept");
    auto const* const from = states.get();
    if (how_ == stored_states::exact)
      std::copy_n(from, to.size_bytes(), std::as_writable_bytes(to).data());
    else
      std::transform(reinterpret_cast<bfloat16 const*>(from), reinterpret_cast<bfloat16 const*>(from) + to.size(),
                     to.begin(), [](bfloat16 v) { return static_cast<T>(from_bfloat16(v)); });
    return true;
  }
  /// Forgets all states.  Call this function if the encoder has other parameters.
  void clear() {
    kept_.clear();
    bytes_ = 0;
  }

 private:
  struct entry {
    std::unique_ptr<std::byte[]> states;
    std::size_t count;  // values
  };

  std::size_t value_bytes() const { return how_ == stored_states::exact ? sizeof(T) : sizeof(bfloat16); }

  index_t width_;
  std::size_t limit_, bytes_ = 0;
  stored_states how_;
  std::unordered_map<std::vector<index_t>, entry, detail::token_hash, detail::same_tokens> kept_;
};

}  // namespace triad
