// Functions for JSON from untrusted files.  They parse JSON with a limit on the depth, read integers exactly, and quote
// values in error messages.
// SPDX-License-Identifier: Apache-2.0
//
// nlohmann::json parses and destroys values of any depth without recursion.  But dump(), comparison and copying are
// recursive.  A value from parse_json() is safe for these three functions, because the depth of the value is limited.
// nlohmann's get<int>() truncates fractions and wraps large numbers around.  json_integer() throws in both cases.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"

namespace triad {

/// The default limit of parse_json() on the depth of nested lists and objects.  The formats that this library reads
/// have at most 4 levels.
inline constexpr int deepest_json = 64;

/// Parses JSON, with a limit on the depth.  Json is nlohmann::json or ordered_json.  `text` is a string or a stream.
/// `what` is the name of the value in messages.  Throws data_error if the value has more than `deepest` levels.  Also
/// throws data_error if `text` is a string with a zero byte, because nlohmann would stop at this byte.  Throws
/// nlohmann's exceptions if the text is not JSON, or has a number that is too large for a double.
template <class Json = nlohmann::json, class Text>
Json parse_json(Text&& text, int deepest = deepest_json, std::string const& what = "JSON") {
  if constexpr (std::is_convertible_v<Text const&, std::string_view>)
    if (auto const at = std::string_view(text).find('\0'); at != std::string_view::npos)
      throw data_error("expected " + what + ", found a zero byte at byte " + std::to_string(at + 1));
  auto const not_too_deep = [&](int depth, typename Json::parse_event_t event, Json&) {
    bool const opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= deepest)
      throw data_error("expected " + what + " of at most " + std::to_string(deepest) + " levels, found more");
    return true;
  };
  return Json::parse(std::forward<Text>(text), not_too_deep);
}

/// Returns the reason in the text of nlohmann's exception, without the exception's number.
inline std::string reason_of(nlohmann::json::exception const& e) {
  std::string message = e.what();
  if (auto const end = message.find("] "); message.starts_with("[json.exception.") && end != std::string::npos)
    message.erase(0, end + 2);
  return message;
}

/// Returns the value as one line of JSON for a message.  The line has no control characters.  The line is cut after at
/// most `longest` bytes, but not inside a character.
template <class Json>
std::string quoted(Json const& value, std::size_t longest = 60) {
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::replace(text.begin(), text.end(), '\x7f', '?');  // JSON does not escape this control character
  if (text.size() <= longest) return text;
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xc0) == 0x80) --longest;
  return text.substr(0, longest) + "...";
}

/// Returns the value if it is an integer from least to most that is written without a fraction.  Otherwise returns
/// nothing.
template <std::integral T, class Json>
std::optional<T> whole_number(Json const& value, T least, T most) {
  auto const within = [&](auto n) { return std::cmp_greater_equal(n, least) && std::cmp_less_equal(n, most); };
  bool const is = value.is_number_unsigned() ? within(value.template get<std::uint64_t>())
                                             : value.is_number_integer() && within(value.template get<std::int64_t>());
  return is ? std::optional<T>(value.template get<T>()) : std::nullopt;
}

/// Whether the value is an integer that T can hold.
template <std::integral T, class Json>
bool is_integer(Json const& value) {
  return whole_number(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()).has_value();
}

/// Returns the value as an integer of type T.  Throws data_error if the value is not an integer that T can hold.
/// `what` is the name of the value in the message.
template <std::integral T, class Json>
T json_integer(Json const& value, std::string const& what) {
  if (is_integer<T>(value)) return value.template get<T>();
  throw data_error(what + ": expected an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                   std::to_string(std::numeric_limits<T>::max()) + ", found " + quoted(value));
}

/// Returns the elements of a list as integers of type T.
template <std::integral T, class Json>
std::vector<T> json_integers(Json const& list, std::string const& what) {
  if (!list.is_array()) throw data_error(what + ": expected a list of integers, found " + quoted(list));
  std::vector<T> result;
  for (auto const& value : list) result.push_back(json_integer<T>(value, what));
  return result;
}

}  // namespace triad
