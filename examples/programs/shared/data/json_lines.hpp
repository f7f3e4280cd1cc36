// Reads JSON lines, in which each line is an object.  Error messages name file and line.  The original text of members
// can be kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/io/json_read.hpp"

namespace triad::programs {

/// Returns true if a line has only blanks; readers skip such lines.
inline bool is_blank(std::string const& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

/// Calls read(value), read(value, line) or read(value, line, number) for each line of a file.  Throws data_error with
/// file and line.
using json_line_reader = std::function<void(nlohmann::json const& value, std::string const& line, long number)>;
void read_json_lines(std::string const& path, json_line_reader const& read);
inline void read_json_lines(std::string const& path,
                            std::function<void(nlohmann::json const&, std::string const&)> const& read) {
  read_json_lines(path, [&](nlohmann::json const& value, std::string const& line, long) { read(value, line); });
}
inline void read_json_lines(std::string const& path, std::function<void(nlohmann::json const&)> const& read) {
  read_json_lines(path, [&](nlohmann::json const& value, std::string const&, long) { read(value); });
}
nlohmann::json read_json_line(std::string const& line, int deepest = deepest_json);

/// Returns a member of an object as type T.  If T is an integer type, the number must be whole and in T's range.  If
/// the member is missing or has another type, throws a data_error with the member's name.
template <class T>
T member(nlohmann::json const& object, char const* name, char const* expected);
nlohmann::json const& member(nlohmann::json const& object, char const* name, char const* expected);

/// Returns a value as JSON in one line.  Replaces bytes that are not UTF-8.
std::string json_text_of(nlohmann::ordered_json const& value);

[[noreturn]] void refuse_member(char const* name, char const* expected, nlohmann::json const& found);

template <class T>
T member(nlohmann::json const& object, char const* name, char const* expected) {
  auto const& value = member(object, name, expected);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (!is_integer<T>(value)) refuse_member(name, expected, value);
  try {
    return value.get<T>();
  } catch (nlohmann::json::exception const&) {
    refuse_member(name, expected, value);
  }
}

// Parsing loses information: numbers of more than 64 bits, -0, 1.0 and escapes change, and nlohmann::json keeps only
// the last of two members with the same name.  So a program keeps the text of members that it only copies.

struct json_member {
  std::string name;          // without quotes and escapes
  std::string written_name;  // with quotes, byte for byte
  std::string value;         // byte for byte, without the white space between tokens
};

/// Returns the members of an object, in their order in the text. read_json_line() must have accepted the object.
/// Throws data_error if the text is not an object.
std::vector<json_member> members_of(std::string const& object);

/// Pairs of name and value.
using json_members = std::vector<std::pair<std::string, nlohmann::ordered_json>>;

/// Returns the object with these members added, as one line.  If the object already has members with the same name, the
/// new member replaces the first of them, and the others are removed.  Otherwise the new member is appended.  A member
/// whose value is discarded is removed, and not added.  All other members are copied byte for byte, without white space
/// between tokens.
std::string with_members(std::string const& object, json_members const& more);

/// Returns a probability rounded to four decimals, as programs print it.
inline double four_digits(double probability) { return std::round(1e4 * probability) / 1e4; }

}  // namespace triad::programs
