// A vocabulary of labels.  Labels are numbered from 1 in the order in which they first appear.  Number 0 is the empty
// node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// The label with number 0, which no node of a tree has.
inline constexpr std::string_view empty_label = "<empty>";

class vocabulary {
 public:
  vocabulary() { insert(std::string(empty_label)); }
  /// Takes a list that labels() returned.  Its first label must be "<empty>", and no label may occur twice.
  explicit vocabulary(std::vector<std::string> const& labels) {
    if (labels.empty() || labels.front() != empty_label)
      throw data_error("vocabulary: expected '<empty>' as the first label, found " +
                       (labels.empty() ? "no label" : "'" + labels.front() + "'"));
    for (auto const& label : labels) {
      if (has(label)) throw data_error("vocabulary: expected every label once, found '" + label + "' twice");
      insert(label);
    }
  }

  /// The number of labels, including "<empty>".
  index_t size() const { return static_cast<index_t>(labels_.size()); }
  std::vector<std::string> const& labels() const { return labels_; }
  std::string const& label(index_t number) const {
    TRIAD_EXPECTS(number >= 0 && number < size(),
                  "vocabulary: number " + std::to_string(number) + ", expected 0 to " + std::to_string(size() - 1));
    return labels_[static_cast<std::size_t>(number)];
  }
  bool has(std::string const& label) const { return numbers_.contains(label); }

  /// Returns the label's number.  If the label is new, adds it with the next number.
  index_t insert(std::string const& label) {
    auto const [at, added] = numbers_.try_emplace(label, size());
    if (added) labels_.push_back(label);
    return at->second;
  }
  /// Adds all labels of a tree that are new, in pre-order.
  void insert(symbol_tree const& tree) {
    for (auto const& n : tree.nodes()) insert(n.label);
  }

  /// Returns the label's number.  Throws data_error with the label if the vocabulary does not have it.
  index_t number(std::string const& label) const {
    auto const found = numbers_.find(label);
    if (found == numbers_.end() || found->second == 0)
      throw data_error("'" + label + "' is not one of the " + std::to_string(size() - 1) + " labels of the vocabulary");
    return found->second;
  }
  numbered_tree number(symbol_tree const& tree) const {
    return tree.mapped([&](std::string const& label) { return number(label); });
  }
  symbol_tree label(numbered_tree const& tree) const {
    return tree.mapped([&](index_t n) { return label(n); });
  }

 private:
  std::vector<std::string> labels_;
  std::unordered_map<std::string, index_t> numbers_;
};

}  // namespace triad
