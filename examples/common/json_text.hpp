// JSON as text, for the records of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "triad/core/errors.hpp"

namespace triad::examples {

/// Throws data_error where a text in it is no UTF-8.
inline std::string json_text(nlohmann::json const& value) {
  try {
    return value.dump();
  } catch (nlohmann::json::exception const& e) {
    throw data_error(std::string("a word of the data cannot be kept in a checkpoint: ") + e.what() + "; convert the data to UTF-8");
  }
}

}  // namespace triad::examples
