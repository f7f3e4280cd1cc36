// Fills batches of trees on the host, and copies each batch to a backend's memory.  Allocates memory only in the
// constructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/constant_table.hpp"
#include "triad/batches/tree_batch.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

/// Finds the positions at which the trees in each slot can have nodes.  Begins with the positions in slot 0, and
/// follows the machine step by step.
class reachable_positions {
 public:
  reachable_positions(tree_positions<> where, index_t steps)
      : where_(where),
        steps_(steps),
        first_(size(where.count())),
        since_(size(where.count())),
        bounds_(size(steps + 1)) {}

  void clear() { std::fill(first_.begin(), first_.end(), std::uint8_t{0}); }
  void add(index_t position) { first_[size(position)] = 1; }
  /// Computes the positions for all steps.  Call this function before first(), since() and bounds().
  void close() {
    index_t const count = where_.count(), never = steps_ + 1;
    std::fill(since_.begin(), since_.end(), never);
    reached_.clear();
    for (index_t q = 0; q < count; ++q)
      if (first_[size(q)] != 0) reached_.push_back(q);
    bounds_[0] = reached_.empty() ? 1 : reached_.back() + 1;
    // A position that is reachable at step k is also reachable at all later steps, so only new positions are followed.
    auto const held = [&](index_t q) { return first_[size(q)] != 0 || since_[size(q)] != never; };
    std::size_t begin = 0;
    for (index_t k = 1; k <= steps_; ++k) {
      std::size_t const end = reached_.size();
      bounds_[size(k)] = k > 1 ? bounds_[size(k - 1)] : 1;
      auto const reach = [&](index_t to) {
        if (to == no_position || since_[size(to)] <= k) return;
        bool const known = held(to);
        since_[size(to)] = k;
        bounds_[size(k)] = std::max(bounds_[size(k)], to + 1);
        if (!known) reached_.push_back(to);
      };
      reach(0);  // the root, which gets its own filler
      for (; begin < end; ++begin) {
        index_t const q = reached_[begin];
        reach(where_.cons_source(q).position);
        for (index_t c = 0; c < where_.branching(); ++c) reach(where_.child_source(c, q));
      }
    }
  }

  std::vector<std::uint8_t> const& first() const { return first_; }
  std::vector<index_t> const& since() const { return since_; }
  /// In slot k, all positions from bounds()[k] on are empty.
  std::vector<index_t> const& bounds() const { return bounds_; }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }

  tree_positions<> where_;
  index_t steps_;
  std::vector<std::uint8_t> first_;
  std::vector<index_t> since_, bounds_, reached_;
};

/// Options of a loader of trees.
struct tree_loader_options {
  tree_positions<> where;
  index_t steps = 1;        // the number of steps of the machine
  index_t symbols = 0;      // v, including <empty>; the filler of <empty> is zero, and the other fillers are unit
                            // vectors
  index_t batch = 1;        // the largest number of trees in a batch
  bool empty_tree = false;  // must equal the machine's option of the same name
};

template <backend Ex, class T>
class tree_loader {
 public:
  using memory = typename Ex::memory;

  /// If the backend computes on a device, `where` must be memory_of(ex).  On a host, `where` is not needed.
  explicit tree_loader(tree_loader_options const& options, memory where = {})
      : z_(checked(options)),
        symbols_(size(options.batch * options.where.count())),
        right_(symbols_.size()),
        sample_(size(options.batch)),
        zero_(size(options.batch)),
        size_(size(options.steps * options.batch)),
        begin_(size_.size()),
        reachable_(options.where, options.steps),
        upload_(bytes(options), where),
        fillers_(unit_fillers(options.symbols), options.symbols, where) {
    for (index_t b = 0; b < options.batch; ++b) sample_[size(b)] = b;
    clear();
  }

  void clear() {
    batch_ = 0;
    reachable_.clear();
  }
  index_t batch() const { return batch_; }
  tree_dims dims() const { return {batch_}; }
  bool has_room() const { return batch_ < z_.batch; }

  /// Adds a source tree and a target tree, each as a range of nodes.  Each node has a `position` and a `filler`.  The
  /// positions in a range must differ.  A filler is a symbol other than 0.
  template <class Source, class Target>
  void add(Source const& source, Target const& target) {
    TRIAD_EXPECTS(has_room(), detail::no_room("tree_loader", "one more tree", dims(), tree_dims{z_.batch},
                                              "make tree_loader_options::batch larger"));
    index_t const count = z_.where.count(), first = batch_ * count;
    auto const place = [&](auto const& tree, std::vector<index_t>& to) {
      std::fill_n(to.begin() + first, count, index_t{0});
      for (auto const& node : tree) {
        TRIAD_EXPECTS(node.position >= 0 && node.position < count,
                      "tree_loader: a node at position " + std::to_string(node.position) + ", expected 0 to " +
                          std::to_string(count - 1) + "; give the loader deeper trees");
        TRIAD_EXPECTS(
            node.filler > 0 && node.filler < z_.symbols,
            "tree_loader: symbol " + std::to_string(node.filler) + ", expected 1 to " + std::to_string(z_.symbols - 1));
        auto& here = to[size(first + node.position)];
        TRIAD_EXPECTS(here == 0, "tree_loader: position " + std::to_string(node.position) + " of a tree has symbols " +
                                     std::to_string(here) + " and " + std::to_string(node.filler) +
                                     ", expected one node at a position");
        here = node.filler;
      }
    };
    place(source, symbols_);
    place(target, right_);
    for (auto const& node : source) reachable_.add(node.position);
    ++batch_;
  }

  /// Returns the batch and its target trees, in the backend's memory.  The result is valid until the next call.
  std::pair<tree_batch<T>, tree_answers> upload() {
    index_t const count = z_.where.count();
    tree_batch<T> in;
    in.sizes.batch = batch_;
    in.positions = count;
    in.empty_tree = z_.empty_tree;
    for (index_t k = 0; k < z_.steps; ++k)
      for (index_t b = 0; b < batch_; ++b) {
        size_[size(k * batch_ + b)] = in.tokens_at(k);
        begin_[size(k * batch_ + b)] = b * in.tokens_at(k);
      }
    // A device records its work once and replays the recording for all batches, so the device computes every position.
    constexpr bool by_batch = std::is_same_v<memory, host_memory>;
    if constexpr (by_batch) reachable_.close();
    return upload_([&](auto const& put) {
      in.symbols = put(symbols_, batch_ * count);
      in.fillers = fillers_.view();
      in.sample = put(sample_, batch_);
      in.zero = put(zero_, batch_);
      in.size = put(size_, z_.steps * batch_);
      in.first = put(begin_, z_.steps * batch_);
      if constexpr (by_batch) {
        in.support = {put(reachable_.first(), count), put(reachable_.since(), count)};
        in.bounds = reachable_.bounds().data();
      }
      return std::pair(in, tree_answers{put(right_, batch_ * count)});
    });
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static tree_loader_options const& checked(tree_loader_options const& options) {
    (void)checked_size("tree_loader", {"steps", options.steps, most_repeats});
    (void)checked_size("tree_loader", {"symbols", options.symbols});
    (void)checked_size("tree_loader", {"batch", options.batch});
    (void)checked_product("tree_loader", "trees and positions", options.batch, options.where.count());
    return options;
  }
  static std::vector<T> unit_fillers(index_t symbols) {
    std::vector<T> unit(size(symbols * symbols));
    for (index_t v = 1; v < symbols; ++v) unit[size(v * symbols + v)] = T(1);
    return unit;
  }
  static std::size_t bytes(tree_loader_options const& options) {
    index_t const positions = options.where.count();
    auto full = tree_batch<T>::measured(options.batch, positions, options.steps, {});
    full.support = {vec<std::uint8_t const>(nullptr, positions), vec<index_t const>(nullptr, positions)};
    return upload_bytes(full, tree_answers{vec<index_t const>(nullptr, options.batch * positions)});
  }

  tree_loader_options z_;
  index_t batch_ = 0;
  std::vector<index_t> symbols_, right_, sample_, zero_, size_, begin_;
  reachable_positions reachable_;
  batch_upload<Ex> upload_;
  constant_table<T, memory> fillers_;
};

}  // namespace triad
