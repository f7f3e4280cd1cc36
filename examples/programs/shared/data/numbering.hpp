// Assigns numbers to names, such as words, labels and answers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/report/refuse.hpp"

namespace triad::programs {

/// A table of names with consecutive numbers, which begin at `first`.
class numbering {
 public:
  explicit numbering(int first = 0) : first_(first) {}
  numbering(int first, std::vector<std::string> names) : first_(first) {
    for (auto& name : names) add(std::move(name));
  }

  /// Returns the number of a name.  Gives a new name the next number.
  int add(std::string name) {
    auto const [at, fresh] = numbers_.emplace(std::move(name), first_ + static_cast<int>(names_.size()));
    if (fresh) names_.push_back(at->first);
    return at->second;
  }
  int find(std::string_view name, int none = -1) const {
    auto const found = numbers_.find(name);
    return found == numbers_.end() ? none : found->second;
  }
  std::string const& name(int number) const { return names_.at(static_cast<std::size_t>(number - first_)); }
  /// Returns the name with this number.  Returns "" for a number below the first number.
  std::string name_or_none(int number) const { return number < first_ ? std::string() : name(number); }
  std::vector<std::string> const& names() const { return names_; }
  int size() const { return static_cast<int>(names_.size()); }
  /// Returns the largest number used, plus one.
  int end() const { return first_ + static_cast<int>(names_.size()); }
  /// Returns up to 20 of the first names for a message, such as "left, right, above".
  std::string all() const {
    std::string text;
    for (std::size_t i = 0; i < names_.size() && i < 20; ++i) text += (i == 0 ? "" : ", ") + names_[i];
    return text + (names_.size() > 20 ? ", ..." : "");
  }

  friend bool operator==(numbering const& a, numbering const& b) { return a.names_ == b.names_; }

 private:
  int first_;
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> numbers_;
};

/// Reads tables of names from the vocabulary in a checkpoint.  Throws data_error.
inline void read_names(nlohmann::json const& json, std::string const& file,
                       std::initializer_list<std::pair<char const*, numbering*>> tables) {
  try {
    for (auto const& [name, table] : tables)
      for (auto& word : json.at(name).get<std::vector<std::string>>()) table->add(std::move(word));
  } catch (nlohmann::json::exception const&) {
    refuse("{}: its vocabulary is not one of this program's", file);
  }
}

}  // namespace triad::programs
