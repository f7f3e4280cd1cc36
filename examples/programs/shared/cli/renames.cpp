// SPDX-License-Identifier: Apache-2.0
#include "renames.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace triad::programs {
namespace {

/// Replaces the old names in the lines `name = value` of a checkpoint by the current names.  The value of a flag is
/// true or false.
std::string renamed_lines(std::string const& text) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    auto const name = toml_name(line);
    auto const* const r = find_rename(name);
    if (r == nullptr)
      all += line + "\n";
    else if (r->negated)
      all += std::string(r->is) + (line == name + " = true" ? " = false\n" : " = true\n");
    else
      all += std::string(r->is) + line.substr(name.size()) + "\n";
  }
  return all;
}

}  // namespace

void rename_settings(checkpoint_state& state) {
  auto const with = [](std::string text, char from, char to) {
    std::replace(text.begin(), text.end(), from, to);
    return text;
  };
  if (state.configuration.is_object()) {
    auto now = nlohmann::json::object();
    for (auto const& [name, value] : state.configuration.items()) {
      auto const* const r = find_rename(with(name, '_', '-'));
      auto const key = r == nullptr ? name : with(std::string(r->is), '-', '_');
      now[key] = r != nullptr && r->negated && value.is_boolean() ? nlohmann::json(!value.get<bool>()) : value;
    }
    state.configuration = std::move(now);
  }
  if (auto const settings = state.extra.find("settings"); settings != state.extra.end())
    settings->second = renamed_lines(settings->second);
}

}  // namespace triad::programs
