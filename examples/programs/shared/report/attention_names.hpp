// The forms of triangular attention by the names that command lines and checkpoints have for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "triad/core/errors.hpp"
#include "triad/ops/triangle.hpp"

namespace triad::programs {

inline std::map<std::string, triangle_form> const& attention_names() {
  static std::map<std::string, triangle_form> const names{{"full", triangle_form::full},
                                                          {"value-ablation", triangle_form::value_ablation},
                                                          {"attention-ablation", triangle_form::attention_ablation},
                                                          {"both-ablations", triangle_form::both_ablations},
                                                          {"flat", triangle_form::flat}};
  return names;
}

inline std::string attention_name(triangle_form form) {
  for (auto const& [name, value] : attention_names())
    if (value == form) return name;
  return {};
}

/// Of a checkpoint's configuration: `file` is for the error.
inline triangle_form attention_form(std::string const& name, std::string const& file) {
  auto const found = attention_names().find(name);
  if (found == attention_names().end()) throw data_error(file + ": an unknown form of attention in its configuration");
  return found->second;
}

}  // namespace triad::programs
