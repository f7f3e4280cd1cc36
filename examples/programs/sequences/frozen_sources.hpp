// The states of sources after a frozen encoder (--freeze-encoder).  A source is encoded in the first batch that has it,
// as often as this batch has it, and not again if the cache has room for its states.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "translator.hpp"
#include "triad/batches/batch_upload.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/batches/state_cache.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/views.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/reference/reference.hpp"

namespace triad::programs::sequences {

/// Returns how states of sources are stored.  If products round the states, half of the memory is enough.
template <class Model, class Ex>
stored_states storage_of(Model const& m, Ex const& ex) {
  auto const least = rounds_from(ex);
  bool const rounds = least > 0 && m.decoder.layer(0).cross.branch.source_extent() >= least;
  return rounds ? stored_states::bfloat16 : stored_states::exact;
}

/// Whether a row of a product of floats has the same bits for any number of rows in the product.
template <class Ex>
bool rows_are_independent(Ex const& ex) {
  if constexpr (std::same_as<Ex, cpu::backend>) return ex.engine != nullptr && ex.engine->rows_are_independent();
  return std::same_as<Ex, reference::backend>;
}

/// Adds the states of sources to batches.  Computes those states that the cache does not have.  The states of a source
/// do not depend on the other sources of a batch, so a resumed run and a run with a smaller cache have the same bits.
template <class Model, class Ex>
class frozen_sources {
  using T = typename Model::value_type;

 public:
  using loader = pair_loader<Ex, T>;

  /// `missing` is an empty loader with the capacity of training batches.  `padded` is the capacity with padding.
  /// `limit` is the number of bytes of the cache.
  frozen_sources(Ex& ex, Model const& m, loader missing, pair_dims const& padded, std::size_t limit)
      : width_(m.encoder.width()),
        alone_(!rows_are_independent(ex)),
        cache_(width_, limit, storage_of(m, ex)),
        missing_(std::move(missing)),
        states_(static_cast<std::size_t>(padded.source_rows * width_)),
        upload_(planned_bytes([&](arena& a) { (void)a.make<vec<T>>(padded.source_rows * width_); }), memory_of(ex)) {
    sources_.reserve(static_cast<std::size_t>(padded.pairs));
    absent_.reserve(static_cast<std::size_t>(padded.pairs));
  }

  /// The memory that the states of `rows` tokens take, counting end tokens.
  state_memory memory_of_rows(index_t rows) const { return {cache_.bytes_of(rows), cache_.limit()}; }
  /// The number of sources that the encoder has read.
  std::int64_t encoded() const { return encoded_; }

  void clear() { sources_.clear(); }
  /// Notes the source of the next pair of a batch.  Its tokens must stay valid until give().
  void add(std::span<index_t const> source) { sources_.push_back(source); }
  /// Forgets all states, because the encoder gets other parameters.
  void forget() { cache_.clear(); }

  /// Sets in.source_states to the states of the batch whose sources were added.  Rows of padding are zero.
  template <class Trainer>
  void give(Trainer& net, pair_batch<T>& in) {
    index_t row = 0;
    for (auto const source : sources_) {
      auto const rows = static_cast<index_t>(source.size()) + 1;  // the end token has a state too
      if (!cache_.copy(source, rows_at(row, rows))) {
        absent_.push_back({source, row});
        missing_.add(source, {});
        if (alone_) encode(net);
      }
      row += rows;
    }
    if (!absent_.empty()) encode(net);
    std::fill(states_.begin() + row * width_, states_.begin() + in.sizes.source_rows * width_, T(0));
    auto const all = upload_([&](auto const& put) { return put(states_, in.sizes.source_rows * width_); });
    in.source_states = tensor<T const, dyn, dyn>(all.data_handle(), in.sizes.source_rows, width_);
  }

 private:
  struct absent {
    std::span<index_t const> source;
    index_t row;  // of the batch
  };

  std::span<T> rows_at(index_t row, index_t rows) {
    return std::span(states_).subspan(static_cast<std::size_t>(row * width_), static_cast<std::size_t>(rows * width_));
  }

  /// Encodes the absent sources in one pass, and keeps their states.  Afterwards no source is absent.
  template <class Trainer>
  void encode(Trainer& net) {
    auto const batch = missing_.upload().first;
    (void)net.infer(batch);
    auto const found = net.saved(batch.dims()).encoder.y();  // (rows, e)
    index_t from = 0;
    for (auto const& [source, row] : absent_) {
      auto const rows = static_cast<index_t>(source.size()) + 1;
      auto const to = rows_at(row, rows);
      net.parameters().where().to_host(to.data(), found.data_handle() + from * width_, to.size_bytes());
      cache_.round(to);  // products of few rows do not round: the states must be the same in every epoch
      (void)cache_.keep(source, to);
      from += rows;
    }
    encoded_ += static_cast<std::int64_t>(absent_.size());
    absent_.clear();
    missing_.clear();
  }

  index_t width_;  // e
  bool alone_;     // each source is encoded in a pass of its own
  std::int64_t encoded_ = 0;
  state_cache<T> cache_;
  loader missing_;
  std::vector<std::span<index_t const>> sources_;  // of the current batch
  std::vector<absent> absent_;                     // sources of missing_; empty after give()
  std::vector<T> states_;                          // (source rows, e)
  batch_upload<Ex> upload_;
};

}  // namespace triad::programs::sequences
