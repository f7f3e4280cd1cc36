// Which of the program's tasks a command line is about: each has its own options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace cfq {

/// The `task` of a config file, or nothing where there is none to read.
inline std::string task_in(std::string const& config) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(config, none)) return {};
  try {
    for (auto const& item : CLI::ConfigTOML().from_file(config))
      if (item.name == "task" && item.inputs.size() == 1) return item.inputs.front();
  } catch (CLI::Error const&) {  // the command line that reads it will say so
  }
  return {};
}

/// What --task says; else what --config, or the config.toml of the run that is asked about, was made for; else what the preset is of;
/// else "semantic".
inline std::string task_of(std::vector<std::string> const& arguments) {
  auto const value_of = [&](std::string const& option) -> std::string {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].starts_with(option + "=")) return arguments[i].substr(option.size() + 1);
      if (arguments[i] == option && i + 1 < arguments.size()) return arguments[i + 1];
    }
    return {};
  };
  if (auto const task = value_of("--task"); !task.empty()) return task;
  if (auto const task = task_in(value_of("--config")); !task.empty()) return task;
  bool const of_a_run = !arguments.empty() && (arguments[0] == "evaluate" || arguments[0] == "predict" || arguments[0] == "explain");
  for (std::size_t i = 1; of_a_run && i < arguments.size(); ++i) {
    if (arguments[i].starts_with("-") || arguments[i - 1] == "--out" || arguments[i - 1] == "--data") continue;
    std::filesystem::path const run(arguments[i]);
    auto const folder = run.extension() == ".safetensors" ? run.parent_path() : run;
    if (auto const task = task_in((folder / "config.toml").string()); !task.empty()) return task;
  }
  return value_of("--preset").ends_with("-dependency") ? "parse" : "semantic";
}

}  // namespace cfq
