// Options that had another name in version 0.1, whose runs and checkpoints are read as if they had been written now.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "toml.hpp"
#include "triad/io/checkpoint.hpp"

namespace triad::examples {

struct rename {
  std::string_view was, is;
  bool negated = false;  // true was false
};

/// The table.  A checkpoint's configuration has the same names, with _ in place of -.
inline constexpr rename renames[] = {
    {"arithmetic", "precision"},
    {"clip", "clip-norm"},
    {"decay", "weight-decay"},
    {"joint", "joined-dictionary"},
    {"least-count", "min-count"},
    {"longest", "max-length"},
    {"longest-factor", "max-length-factor"},
    {"longest-training", "max-train-length"},
    {"no-joint", "no-joined-dictionary"},
    {"rate", "learning-rate"},
    {"smoothing", "label-smoothing"},
    {"untied", "tied", true},
    {"words", "tokens"},
};

/// The table's line for an option of 0.1; null where there is none.
constexpr rename const* find_rename(std::string_view option) {
  for (auto const& r : renames)
    if (r.was == option) return &r;
  return nullptr;
}

/// What an option of a config file is called now.  The opposite of a flag, `--tied,!--untied`, is still one.
inline std::string renamed(std::string const& option) {
  auto const* const r = find_rename(option);
  return r == nullptr || r->negated ? option : std::string(r->is);
}

/// Lines `name = value` of a checkpoint as they are now; a flag is true or false.
inline std::string renamed_lines(std::string const& text) {
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

/// What a checkpoint of format 1 says of its run, as one of format 2 says it.
inline void rename_settings(checkpoint_state& state) {
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

/// A program's checkpoint, of this version or of 0.1.
inline checkpoint open_checkpoint(std::string const& path) { return checkpoint(path, rename_settings); }

}  // namespace triad::examples
