// Where a run's rows come from, a folder or the generator, and what they are by numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../apps/digest.hpp"
#include "../apps/epoch_batches.hpp"
#include "generate.hpp"
#include "options.hpp"
#include "placed.hpp"
#include "read.hpp"

namespace tree_transforms {

namespace detail {

/// The rows that end in a logical form; others there are only where a task goes both ways.
inline void keep_one_way(split_rows& part) {
  std::erase_if(part.rows, [](row const& r) { return r.source.label() == root_of(form::logical); });
}

}  // namespace detail

/// The data that a run is about.  `trained`: of a machine whose depth is what it is.
inline data_set load_data(options const& o, bool trained = false) {
  auto const& facts = facts_of(o.task);
  depth_limit limit{std::min<index_t>(o.depth, deepest_numbered), o.skip_deeper};
  if (trained) limit.advice = "--skip-deeper leaves such rows out";
  if (o.data.empty()) {
    auto data = generate_data({facts.which, o.one_way, o.rows, o.test_size, o.data_seed}, limit);
    if (data[split::train].rows.empty())
      throw triad::data_error("no row of " + o.task + " has a depth of " + std::to_string(o.depth) +
                              " or less: take a larger --depth");
    return data;
  }
  auto data = read_data(o.data, limit);
  if (o.one_way && facts.both_ways) {
    for (auto const s : splits) detail::keep_one_way(data[s]);
    if (data[split::train].rows.empty())
      throw triad::data_error(o.data + ": there is no row to a logical form, which --one-way asks for");
  }
  return data;
}

class task {
 public:
  /// The options are settled.
  explicit task(options const& o) : options_(o), data_(load_data(o)) {
    TRIAD_EXPECTS(o.batch > 0, "task: the options are not settled");
    for (auto const s : splits)
      for (auto const& r : data_[s].rows) {
        labels_.insert(r.source);
        labels_.insert(r.target);
        placed_[static_cast<std::size_t>(s)].add(r, labels_);
        depth_ = std::max(depth_, r.depth());
      }
  }

  data_set const& data() const { return data_; }
  /// Labels in the order of their first appearance, source before target, training rows first: as the released program
  /// numbers them.
  triad::vocabulary const& labels() const { return labels_; }
  placed_rows const& placed(split s) const { return placed_[static_cast<std::size_t>(s)]; }
  /// Of the deepest tree of all splits: the depth that roles need, at most the options'.
  index_t depth() const { return depth_; }
  /// Nodes of the largest tree of all splits.
  index_t most_nodes() const {
    index_t most = 0;
    for (auto const& part : placed_) most = std::max(most, part.most_nodes());
    return most;
  }
  /// Rows that were left out because they are deeper.
  index_t skipped() const {
    index_t all = 0;
    for (auto const s : splits) all += data_[s].skipped;
    return all;
  }

  /// What the rows add to the settings that a resumed run must have.
  std::string data_setting() const {
    if (options_.data.empty()) return triad::apps::example_digest::generated();
    triad::apps::example_digest digest;
    for (index_t i = 0; i < training_rows(); ++i) {
      auto const row = placed(split::train)[i];
      digest.begin();
      for (auto const& tree : {row.source, row.target}) {
        digest.add({static_cast<std::int64_t>(tree.size())});
        for (auto const& node : tree) digest.add({node.position, node.filler});
      }
    }
    return digest.setting();
  }

  /// Updates of the whole run, and of one epoch; the last batch of an epoch may be smaller, and the last epoch shorter.
  std::int64_t updates() const { return options_.updates; }
  std::int64_t epoch_updates() const { return (training_rows() + options_.batch - 1) / options_.batch; }
  std::int64_t epochs() const { return (updates() + epoch_updates() - 1) / epoch_updates(); }

  /// The training rows of every update of a seed's run, by their places: another order in every epoch.
  triad::apps::epoch_batches batches(std::uint64_t seed) const {
    return {static_cast<std::size_t>(training_rows()), options_.batch, true, seed};
  }

 private:
  std::int64_t training_rows() const { return placed(split::train).size(); }

  options options_;
  data_set data_;
  triad::vocabulary labels_;
  std::array<placed_rows, splits.size()> placed_;
  index_t depth_ = 0;
};

}  // namespace tree_transforms
