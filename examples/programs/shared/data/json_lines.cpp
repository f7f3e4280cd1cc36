// SPDX-License-Identifier: Apache-2.0
#include "json_lines.hpp"

#include "each_line.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/json_read.hpp"

namespace triad::programs {

nlohmann::json read_json_line(std::string const& line, int deepest) {
  nlohmann::json value;
  try {
    value = parse_json(line, deepest);
  } catch (nlohmann::json::parse_error const& e) {
    // nlohmann says where, what it was reading, behind a dash what was wrong, and then a token of any length.
    std::string said = e.what(), dash = " - ";
    if (auto const at = said.find(dash); at != std::string::npos) said.erase(0, at + dash.size());
    if (auto const token = said.find("; last read: "); token != std::string::npos) said.erase(token);
    throw data_error("column " + std::to_string(e.byte) + ": expected JSON, found none: " + said +
                     "; a line is one object");
  } catch (nlohmann::json::exception const& e) {  // 1e999
    throw data_error("there is a value that cannot be read: " + reason_of(e));
  }
  if (!value.is_object()) throw data_error("expected an object in braces, found " + quoted(value));
  return value;
}

void read_json_lines(std::string const& path, json_line_reader const& read) {
  bool any = false;
  each_line(path, [&](std::string const& line, long number) {
    if (is_blank(line)) return;
    any = true;
    try {
      read(read_json_line(line), line, number);
    } catch (nlohmann::json::exception const& e) {  // a value of another type than the reader took it for
      throw data_error(reason_of(e));
    }
  });
  if (!any) throw data_error(path + ": expected a line or more, found none");
}

nlohmann::json const& member(nlohmann::json const& object, char const* name, char const* expected) {
  auto const found = object.find(name);
  if (found == object.end()) throw data_error(std::string("expected \"") + name + "\", " + expected + ", found none");
  return *found;
}

void refuse_member(char const* name, char const* expected, nlohmann::json const& found) {
  throw data_error(std::string("expected \"") + name + "\" to be " + expected + ", found " + quoted(found));
}

std::string json_text_of(nlohmann::ordered_json const& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace triad::programs
