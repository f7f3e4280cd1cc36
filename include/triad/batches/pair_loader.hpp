// Fills batches of pairs of sequences on the host, and copies each batch to a backend's memory.  Allocates memory only
// in the constructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/constant_table.hpp"
#include "triad/batches/loader_checks.hpp"
#include "triad/batches/pair_batch.hpp"
#include "triad/batches/pair_padding.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

/// Fills batches with pairs.  Takes sequences without `begin` and `end`.  So use text::dictionary::numbers() and not
/// encode(), which adds `end`.  For a source s and a target t, the model reads `s end` and `begin t`, and predicts `t
/// end`.
template <backend Ex, class T>
class pair_loader {
 public:
  using memory = typename Ex::memory;

  /// Allocates memory for batches up to `capacity`.  The capacity includes one additional token for every sequence.
  /// `width` is the width of the model and of the position encodings.  A source ends with `source_end`, which is
  /// `end_token` if it is negative: the tokens of a pre-trained encoder may have another end.  If the backend computes
  /// on a device, `where` must be memory_of(ex).  On a host, `where` is not needed.
  pair_loader(pair_dims const& capacity, index_t width, index_t begin_token, index_t end_token, memory where = {},
              index_t source_end = -1)
      : capacity_(checked(capacity)),
        begin_(begin_token),
        end_(end_token),
        source_end_(source_end < 0 ? end_token : source_end),
        room_(padded_room_for<Ex>(capacity)),
        source_(room_.pairs, room_.source_rows),
        target_(room_.pairs, room_.target_rows),
        next_(size(room_.target_rows)),
        upload_(bytes(room_), where),
        waves_(half_waves(std::max(capacity.longest_source, capacity.longest_target),
                          checked_size("pair_loader", {"width", width})),
               width, where) {
    TRIAD_EXPECTS(begin_token >= 0 && end_token >= 0, "pair_loader: begin_token is " + std::to_string(begin_token) +
                                                          " and end_token is " + std::to_string(end_token) +
                                                          ", expected 0 or more");
  }

  void clear() { dims_ = {}; }

  /// Returns true if a pair with these numbers of tokens, without `begin` and `end`, fits.
  bool has_room(index_t source_length, index_t target_length) const {
    return source_length >= 0 && source_length < capacity_.longest_source && target_length >= 0 &&
           target_length < capacity_.longest_target &&
           fits(dims_ + dims_of(source_length + 1, target_length + 1), capacity_);
  }
  /// Adds a pair.  Throws contract_violation if the pair does not fit or a token is below 0.  Does not check that the
  /// model knows each token.  On a host, gather_rows() checks the tokens when the model reads the batch.
  void add(std::span<index_t const> source, std::span<index_t const> target) {
    detail::expect_pair("pair_loader", source, target, has_room(count(source), count(target)), dims_, capacity_);
    index_t const row = dims_.target_rows;
    source_.add(dims_.pairs, dims_.source_rows, source, nullptr, &source_end_);
    target_.add(dims_.pairs, row, target, &begin_, nullptr);
    std::copy(target.begin(), target.end(), next_.begin() + row);
    next_[size(row + count(target))] = end_;
    dims_ = dims_ + dims_of(count(source) + 1, count(target) + 1);
  }

  /// Like has_room() and add(), but for a source alone, whose target a decoder will write.  The target in the batch is
  /// empty.
  bool has_room(index_t source_length) const {
    return source_length >= 0 && source_length < capacity_.longest_source &&
           fits(dims_ + dims_of(source_length + 1, 0), capacity_);
  }
  void add_source(std::span<index_t const> source) {
    detail::expect_source("pair_loader", source, has_room(count(source)), dims_, capacity_);
    source_.add(dims_.pairs, dims_.source_rows, source, nullptr, &source_end_);
    target_.add(dims_.pairs, dims_.target_rows, {}, nullptr, nullptr);
    dims_ = dims_ + dims_of(count(source) + 1, 0);
  }

  pair_dims const& dims() const { return dims_; }

  /// Returns the batch and its targets, in the backend's memory.  The result is valid until the next call.
  std::pair<pair_batch<T>, pair_answers> upload() {
    return upload_([&](auto const& put) {
      pair_batch<T> in;
      in.sizes = dims_;
      in.source = {dims_.pairs, dims_.source_rows, dims_.longest_source, put(source_.size, dims_.pairs),
                   put(source_.first, dims_.pairs)};
      in.target = {dims_.pairs, dims_.target_rows, dims_.longest_target, put(target_.size, dims_.pairs),
                   put(target_.first, dims_.pairs)};
      in.source_token = put(source_.token, dims_.source_rows);
      in.source_position = put(source_.position, dims_.source_rows);
      in.target_token = put(target_.token, dims_.target_rows);
      in.target_position = put(target_.position, dims_.target_rows);
      in.waves = waves_.view();
      return std::pair(in, pair_answers{put(next_, dims_.target_rows)});
    });
  }

  /// Returns a batch for training.  If the backend replays recorded work, pads the batch to one of a few shapes
  /// (batches/pair_padding.hpp).  The capacity of the trainer must then be padded_room_for<Ex>(capacity).  Added pairs
  /// have no targets.
  std::pair<pair_batch<T>, pair_answers> upload_padded() {
    auto const before = dims_;
    auto const pad = [&] {
      if constexpr (replays<Ex>) {
        auto const padding = pair_padding::of(dims_, room_);
        for (index_t p = 0; p < padding.pairs; ++p) {
          index_t const s = padding.source_tokens(p), t = padding.target_tokens(p);
          source_.add_blanks(dims_.pairs, dims_.source_rows, s);
          target_.add_blanks(dims_.pairs, dims_.target_rows, t);
          std::fill_n(next_.begin() + dims_.target_rows, t, index_t{-1});
          dims_ = dims_ + dims_of(s, t);
        }
        dims_ = padding.dims;
      }
    };
    return upload_with(pad, [&] { return upload(); }, [&] { dims_ = before; });
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static index_t count(std::span<index_t const> tokens) { return static_cast<index_t>(tokens.size()); }
  static pair_dims const& checked(pair_dims const& z) {
    expect_capacity({{"pairs", z.pairs},
                     {"source_rows", z.source_rows},
                     {"target_rows", z.target_rows},
                     {"longest_source", z.longest_source},
                     {"longest_target", z.longest_target}});
    return z;
  }
  static std::size_t bytes(pair_dims const& z) {
    return upload_bytes(pair_batch<T>::measured(z, 0), pair_answers::measured(z));
  }

  /// The sources of all pairs, or the targets of all pairs.
  struct side {
    side(index_t pairs, index_t rows)
        : size(static_cast<std::size_t>(pairs)), first(size), token(static_cast<std::size_t>(rows)), position(token) {}

    /// Writes sequence p into the rows from r on: *before, the tokens, and *after.  A null pointer adds no token.
    void add(index_t p, index_t r, std::span<index_t const> tokens, index_t const* before, index_t const* after) {
      auto at = token.begin() + r;
      if (before) *at++ = *before;
      at = std::copy(tokens.begin(), tokens.end(), at);
      if (after) *at++ = *after;
      index_t const n = at - token.begin() - r;
      size[static_cast<std::size_t>(p)] = n;
      first[static_cast<std::size_t>(p)] = r;
      for (index_t i = 0; i < n; ++i) position[static_cast<std::size_t>(r + i)] = i;
    }

    /// Writes sequence p into the rows from r on.  The sequence has n tokens, which are all 0.
    void add_blanks(index_t p, index_t r, index_t n) {
      size[static_cast<std::size_t>(p)] = n;
      first[static_cast<std::size_t>(p)] = r;
      std::fill_n(token.begin() + r, n, index_t{0});
      for (index_t i = 0; i < n; ++i) position[static_cast<std::size_t>(r + i)] = i;
    }

    std::vector<index_t> size, first;      // (pairs)
    std::vector<index_t> token, position;  // (rows)
  };

  pair_dims capacity_;
  index_t begin_, end_, source_end_;
  pair_dims room_, dims_{};  // room_: the capacity including padding, if the backend replays recorded work
  side source_, target_;
  std::vector<index_t> next_;
  batch_upload<Ex> upload_;
  constant_table<T, memory> waves_;
};

}  // namespace triad
