// SPDX-License-Identifier: Apache-2.0
#include "json_members.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "triad/core/errors.hpp"

namespace triad::programs {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Where the string ends that begins at `at`, behind its closing quote.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at, text.size()) + 1;
}

/// Takes the characters of an object one after the other, as its members need them.
class member_reader {
 public:
  explicit member_reader(std::string_view text) : text_(text), at_(text.find('{')) {
    if (at_ == std::string_view::npos) throw data_error("expected an object in braces, found none");
    ++at_;
  }

  /// The next token, a value or a name without the space in it, up to what ends it in this object: a comma, a colon or
  /// the closing brace, which `ended_by` is.
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
    throw data_error("expected an object in braces, found its beginning alone");
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
    if (end != ':') break;  // of an empty object
    auto name = nlohmann::json::parse(written).get<std::string>();
    all.push_back({std::move(name), std::move(written), reader.token(end)});
  }
  return all;
}

std::string with_members(std::string const& object,
                         std::vector<std::pair<std::string, nlohmann::ordered_json>> const& more) {
  std::string text;
  auto const add = [&](std::string const& name, std::string const& value) {
    text += (text.empty() ? "{" : ",") + name + ":" + value;
  };
  auto const text_of = [](nlohmann::ordered_json const& value) {
    return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  };
  std::vector<bool> written(more.size());
  for (auto const& m : members_of(object)) {
    auto const found = std::find_if(more.begin(), more.end(), [&](auto const& one) { return one.first == m.name; });
    auto const at = static_cast<std::size_t>(found - more.begin());
    if (found == more.end())
      add(m.written_name, m.value);
    else if (!written[at])
      add(m.written_name, text_of(found->second)), written[at] = true;
  }
  for (std::size_t i = 0; i < more.size(); ++i)
    if (!written[i]) add(text_of(more[i].first), text_of(more[i].second));
  return (text.empty() ? "{" : text) + "}";
}

}  // namespace triad::programs
