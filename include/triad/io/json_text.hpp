// Writes JSON as text.  Throws if a value cannot be written as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "triad/core/errors.hpp"
#include "triad/core/finite.hpp"
#include "triad/io/json_read.hpp"

namespace triad {

namespace detail {
/// Returns the place of the first number that is NaN or infinite, such as "/schedule/rate".  Returns an empty text if
/// there is no such number.  `at` is the place of `value`.
inline std::string place_of_no_number(nlohmann::json const& value, std::string const& at = {}) {
  if (value.is_number_float() && !is_finite(value.get<double>())) return at.empty() ? "/" : at;
  if (value.is_structured())
    for (auto const& [name, member] : value.items())
      if (auto found = place_of_no_number(member, at + "/" + name); !found.empty()) return found;
  return {};
}
}  // namespace detail

/// Returns the value as JSON text.  `what` is the name of the value in messages.  Throws data_error if a string is not
/// UTF-8.  Also throws data_error if a number is NaN or infinite.  JSON has no such numbers, so the number would be
/// written as null.
inline std::string json_text(nlohmann::json const& value, std::string const& what) {
  if (auto const at = detail::place_of_no_number(value); !at.empty())
    throw data_error(what + " cannot be written: the number at " + at +
                     " is not finite, and JSON has finite numbers alone; leave it out, or write it as a text");
  try {
    return value.dump();
  } catch (nlohmann::json::exception const& e) {
    throw data_error(what + " cannot be written: " + reason_of(e) + "; convert the data to UTF-8");
  }
}

}  // namespace triad
