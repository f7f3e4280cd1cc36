// Rows of a data set, a tree and what becomes of it, and the five splits they come in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace tree_transforms {

using triad::index_t;
using triad::numbered_tree;
using triad::symbol_tree;

struct row {
  symbol_tree source, target;
  index_t depth() const { return std::max(source.depth(), target.depth()); }
  bool operator==(row const&) const = default;
};

/// The paper's "OOD lexical" is ood_new, adjectives that training has not; its "OOD structural" is ood_long, more
/// adjectives in a sentence.
enum class split { train, dev, test, ood_new, ood_long };

/// In the order in which their labels are numbered.
inline constexpr std::array<split, 5> splits{split::train, split::dev, split::test, split::ood_new, split::ood_long};

/// As files are called, without .jsonl.
inline constexpr char const* name_of(split s) {
  constexpr std::array<char const*, 5> names{"train", "validation", "test", "ood_new", "ood_long"};
  return names[static_cast<std::size_t>(s)];
}

struct split_rows {
  std::vector<row> rows;
  index_t skipped = 0;  // deeper than was asked for
};

/// One list a split; those that there are not are empty.
class data_set {
 public:
  split_rows& operator[](split s) { return parts_[static_cast<std::size_t>(s)]; }
  split_rows const& operator[](split s) const { return parts_[static_cast<std::size_t>(s)]; }

 private:
  std::array<split_rows, splits.size()> parts_;
};

/// Deeper trees have positions without a number.
inline constexpr index_t deepest_numbered = 63;

/// How deep the trees of a row may be (a root alone has depth 1), and whether deeper rows are left out, as the released
/// program does, or refused.
struct depth_limit {
  index_t most = deepest_numbered;
  bool skip = false;
  char const* advice = "take a larger --depth, or --skip-deeper to leave such rows out";

  /// False: the row is to be left out.  Throws data_error where that was not asked for.
  bool admits(row const& r) const {
    auto const depth = r.depth();
    if (depth <= most || skip) return depth <= most;
    throw triad::data_error("a tree of depth " + std::to_string(depth) + ", where the model's trees have " +
                            std::to_string(most) + ": " + advice);
  }
  void add(row r, split_rows& to) const {
    if (admits(r))
      to.rows.push_back(std::move(r));
    else
      ++to.skipped;
  }
};

}  // namespace tree_transforms
