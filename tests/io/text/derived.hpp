// Derivations for tests. A derivation is given as a nested list in JSON, such as ["S", "a", ["b", "c"]]. Each name of a
// rule gets a number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "triad/io/text/compounds.hpp"

namespace triad::test {

struct derived {
  std::map<std::string, int> names;
  std::vector<text::derivation> trees;

  explicit derived(std::vector<std::string> const& texts) {
    for (auto const& text : texts) add(nlohmann::json::parse(text), trees.emplace_back(), -1, 0);
  }
  int rules() const { return static_cast<int>(names.size()); }
  /// Returns the weights of the compounds of each example, in ascending order. `at_once` is passed to compounds_of().
  std::vector<std::vector<int>> weights(int largest, std::size_t at_once = std::size_t{1} << 24U) const {
    std::vector<std::vector<int>> result;
    for (auto const& items : text::compounds_of(trees, largest, at_once).of) {
      auto& mine = result.emplace_back();
      for (auto const& i : items) mine.push_back(i.amount);
      std::sort(mine.begin(), mine.end());
    }
    return result;
  }

 private:
  void add(nlohmann::json const& from, text::derivation& tree, int below, int which) {
    auto const name = (from.is_array() ? from[0] : from).get<std::string>();
    int const number = names.try_emplace(name, rules()).first->second, node = tree.add(number, below, which);
    for (std::size_t i = 1; from.is_array() && i < from.size(); ++i) add(from[i], tree, node, static_cast<int>(i) - 1);
  }
};

}  // namespace triad::test
