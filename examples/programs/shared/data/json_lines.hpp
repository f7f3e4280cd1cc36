// Reads JSON lines, one object in each; errors have file and line, and members keep their original text.
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

/// Whether a line says nothing: such lines are passed over.
inline bool is_blank(std::string const& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

/// read(value), read(value, line), or read(value, line, number) for each line of a file, or of one text.  Throws
/// data_error with file and line.
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

/// A member of an object, of this type; an integer is whole and in T's range.  Throws data_error that names it.
template <class T>
T member(nlohmann::json const& object, char const* name, char const* expected);
nlohmann::json const& member(nlohmann::json const& object, char const* name, char const* expected);

/// A text as JSON has it, for lines that are written; what is not UTF-8 is replaced.
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

// A value that was parsed has no numbers of any size, no -0, 1.0 or escapes, and no name twice: nlohmann::json keeps 64
// bits of a number, and the last of two members of one name.  What only passes through a program comes back by its
// text.

struct json_member {
  std::string name;          // without quotes and escapes
  std::string written_name;  // with its quotes, byte for byte
  std::string value;         // byte for byte, without the space between its tokens
};

/// Of an object that read_json_line() has taken, in their order.  Throws data_error for what is no object.
std::vector<json_member> members_of(std::string const& object);

/// Names with values.
using json_members = std::vector<std::pair<std::string, nlohmann::ordered_json>>;

/// The object as one line with these members: in the place of the first of that name, of which no other stays, else
/// after all others.  Those come back byte for byte, without the space between tokens.
std::string with_members(std::string const& object, json_members const& more);

/// A probability as answers have it.
inline double four_digits(double probability) { return std::round(1e4 * probability) / 1e4; }

}  // namespace triad::programs
