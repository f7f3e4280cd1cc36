// Finds the task that a command line names.  Each task has its own options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "shared/cli/config.hpp"
#include "shared/run/run_folder.hpp"

namespace triad::programs::cfq {

/// Returns the value of `task` in a config file.  Returns an empty string if the file has no `task`, or if the file is
/// not TOML.  The program reports a file that is not TOML later.
inline std::string task_in(std::string const& config) {
  try {
    return config_value(config, "task");
  } catch (data_error const&) {
    return {};
  }
}

/// Returns the task that the command line names.  Looks at --task first, then at the file of --config or the
/// config.toml of the given run, and last at the preset.  Returns "semantic" if none of them names a task.
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
  bool const of_a_run =
      !arguments.empty() && (arguments[0] == "evaluate" || arguments[0] == "predict" || arguments[0] == "explain");
  for (std::size_t i = 1; of_a_run && i < arguments.size(); ++i) {
    if (arguments[i].starts_with("-") || arguments[i - 1] == "--out" || arguments[i - 1] == "--data") continue;
    if (auto const task = task_in(config_of(arguments[i])); !task.empty()) return task;
  }
  return value_of("--preset").ends_with("-dependency") ? "parse" : "semantic";
}

}  // namespace triad::programs::cfq
