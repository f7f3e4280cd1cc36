// JSON as text, or a message where it holds what no JSON text can.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "triad/core/errors.hpp"

namespace triad {

/// what: the value, for the message.  Throws data_error where a text in it is no UTF-8.
inline std::string json_text(nlohmann::json const& value, std::string const& what) {
  try {
    return value.dump();
  } catch (nlohmann::json::exception const& e) {
    throw data_error(what + " cannot be written: " + e.what() + "; convert the data to UTF-8");
  }
}

}  // namespace triad
