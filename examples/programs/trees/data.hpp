// The rows of a data set, source and target trees, in parts such as training and test.
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
  std::string name, title;         // as options and messages call it; as tables do
  std::vector<row> rows{};         // none: there is no such file
  index_t skipped = 0;             // rows that were left out, deeper than was asked for
  index_t read = 0;                // all rows of the file
  std::vector<index_t> numbers{};  // of the rows that were kept, counted from 1 in the file

  part() = default;
  explicit part(std::string called) : part(called, called) {}
  part(std::string called, std::string titled) : name(std::move(called)), title(std::move(titled)) {}
};

/// The parts in the order in which their labels are numbered: training rows, dev, and tests.  The first two are there
/// even where they have no row.
struct data_set {
  std::vector<part> parts;

  part const& train() const { return parts[0]; }
  part const& dev() const { return parts[1]; }
};

/// The part of this name; without one the first test that has rows, or else dev.  Throws data_error.
inline part const& part_called(data_set const& data, std::string const& name) {
  std::string names;
  for (auto const& p : data.parts) {
    if (p.name == name || (name.empty() && &p != &data.train() && &p != &data.dev() && !p.rows.empty())) return p;
    if (!p.rows.empty()) names += (names.empty() ? "" : ", ") + p.name;
  }
  if (name.empty()) return data.dev();
  refuse("there is no part {}: the data have {}", name, names);
}

/// Deeper trees have positions without a number.
inline constexpr index_t deepest_numbered = 63;
/// No machine's trees are deeper.
inline constexpr int deepest_model = 24;

/// How deep the trees of a row may be (a root alone has depth 1), and whether deeper rows are left out, as the released
/// program does, or refused.
struct depth_limit {
  index_t most = deepest_numbered;
  bool skip = false;
  bool trained = false;                        // for a machine whose depth is what it is
  std::function<bool(row const&)> is_about{};  // of what rows the run is; none: of all

  /// False: the row is to be left out.  Throws data_error where that was not asked for.
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

  /// What to do about a tree of this depth.
  std::string advice(index_t depth) const {
    if (trained) return "--skip-deeper leaves such rows out";
    if (depth > deepest_model) return at_most() + "; --skip-deeper leaves such rows out";
    return "take a larger --depth, or --skip-deeper to leave such rows out";
  }
  /// What to do where no row is left.
  std::string advice_without_rows() const {
    if (trained) return "give rows that are less deep, or train a machine on these";
    return most >= deepest_model ? at_most() : "take a larger --depth";
  }

 private:
  static std::string at_most() { return "a model's trees have at most " + std::to_string(deepest_model); }
};

}  // namespace triad::programs::trees
