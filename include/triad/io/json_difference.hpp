// Finds the first difference between the JSON value in a file and the JSON value that a program expects.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "triad/io/json_read.hpp"

namespace triad {

/// Returns the first place where two JSON values differ, as `a.b[3]: has, wants`.  Returns an empty text if the values
/// are equal.
inline std::string json_difference(nlohmann::json const& has, nlohmann::json const& wants,
                                   std::string const& path = {}) {
  auto const where = path.empty() ? std::string() : path + ": ";
  if (has == wants) return {};
  if (has.is_object() && wants.is_object()) {
    for (auto const& [name, value] : wants.items()) {
      auto const inside = path.empty() ? name : path + "." + name;
      if (!has.contains(name)) return inside + ": checkpoint has none, this program wants " + quoted(value);
      if (auto const difference = json_difference(has.at(name), value, inside); !difference.empty()) return difference;
    }
    for (auto const& [name, value] : has.items())
      if (!wants.contains(name))
        return (path.empty() ? name : path + "." + name) + ": checkpoint has " + quoted(value) +
               ", this program wants none";
  }
  if (has.is_array() && wants.is_array()) {
    for (std::size_t i = 0; i < has.size() && i < wants.size(); ++i)
      if (auto const difference = json_difference(has[i], wants[i], path + "[" + std::to_string(i) + "]");
          !difference.empty())
        return difference;
    return where + "checkpoint has " + std::to_string(has.size()) + " entries, this program wants " +
           std::to_string(wants.size());
  }
  return where + "checkpoint has " + quoted(has) + ", this program wants " + quoted(wants);
}

}  // namespace triad
