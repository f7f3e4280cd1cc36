// SPDX-License-Identifier: Apache-2.0
#include "json_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "each_line.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/json_read.hpp"

namespace triad::programs {

nlohmann::json read_json_line(std::string const& line, int deepest) {
  nlohmann::json value;
  try {
    value = parse_json(line, deepest);
  } catch (nlohmann::json::parse_error const& e) {
    // nlohmann's message consists of the position, what was being parsed, a dash, the error, and a token of any length.
    std::string message = e.what(), dash = " - ";
    if (auto const at = message.find(dash); at != std::string::npos) message.erase(0, at + dash.size());
    if (auto const token = message.find("; last read: "); token != std::string::npos) message.erase(token);
    refuse("column {}: this is not JSON: {}; a line is one object", e.byte, message);
  } catch (nlohmann::json::exception const& e) {  // for example, 1e999 is not a double
    refuse("there is a value that cannot be read: {}", reason_of(e));
  }
  if (!value.is_object()) refuse("expected an object in braces, found {}", quoted(value));
  return value;
}

void read_json_lines(std::string const& path, json_line_reader const& read) {
  bool any = false;
  each_line(path, [&](std::string const& line, long number) {
    if (is_blank(line)) return;
    any = true;
    try {
      read(read_json_line(line), line, number);
    } catch (nlohmann::json::exception const& e) {  // a value does not have the type that read() expects
      refuse("{}", reason_of(e));
    }
  });
  if (!any) refuse("{}: expected a line or more, found none", path);
}

nlohmann::json const& member(nlohmann::json const& object, char const* name, char const* expected) {
  auto const found = object.find(name);
  if (found == object.end()) refuse("expected \"{}\", {}, found none", name, expected);
  return *found;
}

void refuse_member(char const* name, char const* expected, nlohmann::json const& found) {
  refuse("expected \"{}\" to be {}, found {}", name, expected, quoted(found));
}

std::string json_text_of(nlohmann::ordered_json const& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Returns the position after the closing quote of the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at, text.size()) + 1;
}

/// Splits the text of an object into its names and values, from the first to the last.
class member_reader {
 public:
  explicit member_reader(std::string_view text) : text_(text), at_(text.find('{')) {
    if (at_ == std::string_view::npos) refuse("expected an object in braces, found none");
    ++at_;
  }

  /// Returns the next name or value, without white space between its tokens.  Sets `ended_by` to the character after
  /// it: a comma, a colon or the closing brace.
  std::string token(char& ended_by) {
    std::string found;
    for (int depth = 0; at_ < text_.size();) {
      char const c = text_[at_];
      if (depth == 0 && (c == ',' || c == ':' || c == '}')) return ended_by = c, ++at_, found;
      auto const end = c == '"' ? std::min(end_of_string(text_, at_), text_.size()) : at_ + 1;
      if (!is_space(c)) found += text_.substr(at_, end - at_);
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      at_ = end;
    }
    refuse("expected an object in braces, found its beginning alone");
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

}  // namespace

std::vector<json_member> members_of(std::string const& object) {
  std::vector<json_member> all;
  member_reader reader(object);
  for (char end = ','; end != '}';) {
    auto written = reader.token(end);
    if (end != ':') break;  // the object is empty
    auto name = nlohmann::json::parse(written).get<std::string>();
    all.push_back({std::move(name), std::move(written), reader.token(end)});
  }
  return all;
}

std::string with_members(std::string const& object, json_members const& more) {
  std::string text;
  auto const add = [&](std::string const& name, std::string const& value) {
    text += (text.empty() ? "{" : ",") + name + ":" + value;
  };
  std::vector<bool> written(more.size());
  for (auto const& m : members_of(object)) {
    auto const found = std::find_if(more.begin(), more.end(), [&](auto const& one) { return one.first == m.name; });
    auto const at = static_cast<std::size_t>(found - more.begin());
    if (found == more.end())
      add(m.written_name, m.value);
    else if (!written[at] && !found->second.is_discarded()) {
      add(m.written_name, json_text_of(found->second));
      written[at] = true;
    }
  }
  for (std::size_t i = 0; i < more.size(); ++i)
    if (!written[i] && !more[i].second.is_discarded()) add(json_text_of(more[i].first), json_text_of(more[i].second));
  return (text.empty() ? "{" : text) + "}";
}

}  // namespace triad::programs
