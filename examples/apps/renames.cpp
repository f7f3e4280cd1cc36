// SPDX-License-Identifier: Apache-2.0
#include "renames.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "triad/core/errors.hpp"

namespace triad::apps {
namespace {

/// Lines `name = value` of a checkpoint as they are now; a flag is true or false.
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

void expect_same_settings(std::string const& path, std::string const& was, std::string const& is) {
  auto const by_name = [](std::string const& text) {
    std::map<std::string, std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines[toml_name(line)] = line;
    return lines;
  };
  auto const before = by_name(was), now = by_name(is);
  auto const refuse = [&](std::string const& old, std::string const& wanted) {
    throw data_error(path + " was trained with " + old + ", this run has " + wanted +
                     "; give the same options to go on from it");
  };
  for (auto const& [name, line] : now)
    if (auto const old = before.find(name); old == before.end() || old->second != line)
      refuse(before.empty() ? "no record of its settings" : old == before.end() ? "no " + name : old->second, line);
  for (auto const& [name, line] : before)
    if (!now.contains(name)) refuse(line, "no " + name);
}

}  // namespace triad::apps
