// The training data of a run: rows with numbers in place of labels, in batches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"
#include "placed.hpp"
#include "shared/run/digest.hpp"
#include "shared/run/epoch_batches.hpp"
#include "shared/run/permute.hpp"

namespace triad::programs::trees {

class training_data {
 public:
  /// o.settle() must have been called.
  training_data(options const& o, data_set data) : options_(o), data_(std::move(data)) {
    TRIAD_EXPECTS(o.batch > 0, "training_data: the options are not settled");
    for (auto const& part : data_.parts)
      for (auto const& r : part.rows) {
        labels_.insert(r.source);
        labels_.insert(r.target);
        depth_ = std::max(depth_, r.depth());
      }
    place();
  }

  /// Takes all labels of `whole`, but only rows whose trees have at most `levels` levels.
  training_data(training_data const& whole, options const& o, index_t levels)
      : options_(o), data_(whole.data_), labels_(whole.labels_), depth_(levels) {
    for (auto& part : data_.parts) std::erase_if(part.rows, [&](row const& r) { return r.depth() > levels; });
    place();
  }

  data_set const& data() const { return data_; }
  /// The labels, numbered in the order of their first appearance, as in the released program.  Training rows come
  /// first, and in each row, the source comes before the target.
  vocabulary const& labels() const { return labels_; }
  /// The rows of a part, by the part's number.
  placed_rows const& placed(std::size_t part) const { return placed_[part]; }
  placed_rows const& train() const { return placed_[0]; }
  /// The rows that checkpoints are validated on.  They are the rows of dev, or a sample of the training rows if there
  /// is no dev.
  placed_rows const& measured() const { return data_.dev().rows.empty() ? sample_ : placed_[1]; }
  /// The depth of the deepest tree in all parts, which is also the depth of the roles.  It is at most the depth in the
  /// options.
  index_t depth() const { return depth_; }
  /// Returns the smallest number of levels such that this fraction of the training rows, or more, has no deeper tree.
  index_t levels_of(double fraction) const {
    std::vector<index_t> levels;
    for (auto const& r : data_.train().rows) levels.push_back(r.depth());
    if (levels.empty()) return 0;
    std::sort(levels.begin(), levels.end());
    auto const place = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(levels.size())));
    return levels[std::max<std::size_t>(place, 1) - 1];
  }
  /// Returns the number of rows that were left out because they are too deep.
  index_t skipped() const {
    index_t all = 0;
    for (auto const& part : data_.parts) all += part.skipped;
    return all;
  }

  /// Returns a text that identifies the training rows.  A resumed run must have the same text.
  std::string data_setting() const {
    if (options_.data.empty()) return example_digest::generated();
    example_digest digest;
    for (index_t i = 0; i < train().size(); ++i) {
      auto const row = train()[i];
      digest.begin();
      for (auto const& tree : {row.source, row.target}) {
        digest.add({static_cast<std::int64_t>(tree.size())});
        for (auto const& node : tree) digest.add({node.position, node.filler});
      }
    }
    return digest.setting();
  }

  /// The number of updates in one epoch.  The last batch of an epoch may be smaller.
  std::int64_t epoch_updates() const { return (train().size() + options_.batch - 1) / options_.batch; }
  /// The number of epochs in this number of updates.  The last epoch may be shorter.
  std::int64_t epochs(std::int64_t updates) const { return (updates + epoch_updates() - 1) / epoch_updates(); }

  /// Returns the indices of the training rows for each update of a run with this seed.  Every epoch has a new order.
  epoch_batches batches(std::uint64_t seed) const {
    return {static_cast<std::size_t>(train().size()), options_.batch, true, seed};
  }

 private:
  void place() {
    for (auto const& part : data_.parts) {
      auto& rows = placed_.emplace_back();
      for (auto const& r : part.rows) rows.add(r, labels_);
    }
    if (data_.dev().rows.empty())
      for (auto const& r : sample(data_.train().rows, options_.train_sample)) sample_.add(r, labels_);
  }

  options options_;
  data_set data_;
  vocabulary labels_;
  std::vector<placed_rows> placed_;  // the rows of each part
  placed_rows sample_;
  index_t depth_ = 0;
};

}  // namespace triad::programs::trees
