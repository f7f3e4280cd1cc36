// The rows of a data set, in parts such as training and test.  A row is a pair of a source tree and a target tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shared/report/refuse.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad::programs::trees {

struct row {
  symbol_tree source, target;
  index_t depth() const { return std::max(source.depth(), target.depth()); }
  bool operator==(row const&) const = default;
};

/// A file of a data set.
struct part {
  std::string name, title;         // name in options and messages; name in tables
  std::vector<row> rows{};         // empty if there is no such file
  index_t skipped = 0;             // number of omitted rows, which are too deep
  index_t read = 0;                // number of rows in the file
  std::vector<index_t> numbers{};  // for each kept row, its number in the file, from 1

  part() = default;
  explicit part(std::string called) : part(called, called) {}
  part(std::string called, std::string titled) : name(std::move(called)), title(std::move(titled)) {}
};

/// The parts, in the order in which their labels get numbers: training rows, dev, tests.  The parts of the training
/// rows and of dev always exist, but may have no rows.
struct data_set {
  std::vector<part> parts;

  part const& train() const { return parts[0]; }
  part const& dev() const { return parts[1]; }
};

/// Returns the part with this name.  If the name is empty, returns the first test that has rows, or else dev.  Throws
/// data_error if there is no such part.
inline part const& part_called(data_set const& data, std::string const& name) {
  std::string names;
  for (auto const& p : data.parts) {
    if (p.name == name || (name.empty() && &p != &data.train() && &p != &data.dev() && !p.rows.empty())) return p;
    if (!p.rows.empty()) names += (names.empty() ? "" : ", ") + p.name;
  }
  if (name.empty()) return data.dev();
  refuse("there is no part {}: the data have {}", name, names);
}

/// The largest depth of a tree that can be read.  In a deeper tree, some positions would exceed the range of index_t.
inline constexpr index_t deepest_numbered = 63;
/// The largest depth of a machine's trees.
inline constexpr int deepest_model = 24;

/// The largest depth of a row's trees.  A tree of one node has depth 1.  Rows with deeper trees are left out, as in the
/// released program, or refused.
struct depth_limit {
  index_t most = deepest_numbered;
  bool skip = false;
  bool trained = false;                        // the machine is trained, so its depth is fixed
  std::function<bool(row const&)> is_about{};  // returns whether the run uses a row; empty: it uses every row

  /// Returns false if the row is too deep and `skip` is true.  Throws data_error if the row is too deep and `skip` is
  /// false.
  bool admits(row const& r) const {
    auto const depth = r.depth();
    if (depth <= most || skip) return depth <= most;
    refuse("a tree of depth {}, where the model's trees have {}: {}", depth, most, advice(depth));
  }
  void add(row r, part& to) const {
    ++to.read;
    if (is_about && !is_about(r)) return;
    if (admits(r)) {
      to.rows.push_back(std::move(r));
      to.numbers.push_back(to.read);
    } else {
      ++to.skipped;
    }
  }

  /// Returns advice to the user about a tree of this depth.
  std::string advice(index_t depth) const {
    if (trained) return "--skip-deeper leaves such rows out";
    if (depth > deepest_model) return at_most() + "; --skip-deeper leaves such rows out";
    return "take a larger --depth, or --skip-deeper to leave such rows out";
  }
  /// Returns advice to the user if no row is left.
  std::string advice_without_rows() const {
    if (trained) return "give rows that are less deep, or train a machine on these";
    return most >= deepest_model ? at_most() : "take a larger --depth";
  }

 private:
  static std::string at_most() { return "a model's trees have at most " + std::to_string(deepest_model); }
};

}  // namespace triad::programs::trees
