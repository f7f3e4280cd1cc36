// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

#include "renames.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::apps {
namespace {

/// A file that toml++ did not expect.
struct unexpected_toml {};
[[noreturn]] void refuse_toml() { throw unexpected_toml(); }

}  // namespace
}  // namespace triad::apps

// What toml++ 3.3 asserts, or without assertions takes for granted, is not true of every file: [! is one.
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? void() : triad::apps::refuse_toml())
#include <toml++/toml.h>

namespace triad::apps {
namespace {

std::string place(std::string const& file, toml::source_region const& where) {
  return fmt::format("{}:{}:{}", file, where.begin.line, where.begin.column);
}

std::string text_of(toml::node const& value, std::string const& file) {
  if (auto const* const text = value.as_string()) return text->get();
  if (auto const* const number = value.as_integer()) return fmt::to_string(number->get());
  if (auto const* const number = value.as_floating_point()) return fmt::format("{:.17g}", number->get());
  if (auto const* const flag = value.as_boolean()) return flag->get() ? "true" : "false";
  throw data_error(place(file, value.source()) +
                   ": expected a text, a number, true, false, or a list of these, found something else");
}

/// A seed has 64 bits, and numbers of TOML 63: name = 18446744073709551615 with its number as a text.
std::string with_large_numbers_quoted(std::string const& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    auto const end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    auto line = text.substr(begin, end - begin);
    begin = end;
    if (auto const equals = line.find('='); equals != std::string::npos) {
      auto const first = line.find_first_not_of(" \t", equals + 1);
      auto const last =
          first == std::string::npos ? first : std::min(line.find_first_not_of("0123456789", first), line.size());
      bool const ends = last != std::string::npos &&
                        (last == line.size() || std::string(" \t\r\n#").find(line[last]) != std::string::npos);
      if (ends && last - first >= 19)
        line = line.substr(0, first) + '"' + line.substr(first, last - first) + '"' + line.substr(last);
    }
    result += line;
  }
  return result;
}

/// Where a character beyond ASCII is outside of texts and comments, or behind a backslash and what blanks it joins:
/// TOML has none there, and what toml++ 3.3 does with one is not defined.  The end of the text where there is none.
std::size_t stray_character(std::string_view text) {
  auto const beyond = [&](std::size_t at) { return at < text.size() && static_cast<unsigned char>(text[at]) >= 0x80; };
  std::string_view quotes;  // of the text that we are in
  for (std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0; at < text.size(); ++at) {
    char const c = text[at];
    if (quotes.empty()) {
      if (beyond(at)) return at;
      if (c == '#') at = std::min(text.find('\n', at), text.size());
      if (c != '"' && c != '\'') continue;
      auto const three = text.substr(at, 3);
      quotes = three == std::string(3, c) ? three : three.substr(0, 1);
      at += quotes.size() - 1;
    } else if (c == '\\' && quotes.front() == '"') {
      auto const next = text.find_first_not_of(" \t\r\n", at + 1);
      if (beyond(next)) return next;
      ++at;
    } else if (text.substr(at).starts_with(quotes) || (c == '\n' && quotes.size() == 1)) {
      at += quotes.size() - 1;
      for (int more = 0; more < 2 && quotes.size() == 3 && text.substr(at + 1).starts_with(c); ++more) ++at;
      quotes = {};
    }
  }
  return text.size();
}

}  // namespace

std::string config_item::text() const { return fmt::format("{}", fmt::join(values, ",")); }

std::vector<config_item> read_config(std::string const& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw data_error(file + ": cannot be opened");
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (auto const at = stray_character(text); at < text.size()) {
    auto const begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // of its line; npos + 1 is 0
    throw data_error(fmt::format("{}:{}:{}: a character that is not ASCII, outside of a text; put it in quotes", file,
                                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1,
                                 at - begin + 1));
  }
  text = with_large_numbers_quoted(text);
  toml::table table;
  try {
    table = toml::parse(text, file);
  } catch (toml::parse_error const& e) {
    throw data_error(fmt::format("{}: {}; expected lines as width = 64 and model = \"rat\"", place(file, e.source()),
                                 e.description()));
  } catch (unexpected_toml const&) {
    throw data_error(file + ": this is no TOML; expected lines as width = 64 and model = \"rat\"");
  }
  std::vector<std::pair<toml::source_position, config_item>> found;
  for (auto const& [key, node] : table) {
    auto& [where, item] = found.emplace_back(node.source().begin, config_item{renamed(std::string(key.str())), {}});
    if (auto const* const list = node.as_array())
      for (auto const& value : *list) item.values.push_back(text_of(value, file));
    else
      item.values.push_back(text_of(node, file));
  }
  std::sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<config_item> items;
  for (auto& [where, item] : found) items.push_back(std::move(item));
  return items;
}

std::string config_value(std::string const& file, std::string const& name) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return {};
  for (auto const& item : read_config(file))
    if (item.name == name) return item.text();
  return {};
}

std::string toml_text(std::string const& text) {
  for (std::size_t at = 0; at < text.size();) {  // toml++ would leave such bytes out
    auto const c = text::character_at(text, at);
    if (c.code == 0xfffd && c.bytes == 1)
      throw data_error(fmt::format("\"{}\" is no UTF-8 at byte {}, and a config file cannot keep it; give another name",
                                   text, at + 1));
    at += c.bytes;
  }
  std::ostringstream out;
  out << toml::toml_formatter(toml::value<std::string>(text), toml::format_flags::none);
  return out.str();
}

std::string owner_of(std::string const& file) {
  static std::map<std::string, std::string> const owners{{"train-lengths", "clutrr"},
                                                         {"from-parent", "cogs"},
                                                         {"role-seed", "tree-transforms"},
                                                         {"train-on", "cognition"}};
  for (auto const& item : read_config(file)) {
    if (item.name == "program") return item.text();
    if (auto const owner = owners.find(item.name); owner != owners.end()) return owner->second;
    if (item.name == "task" && (item.text() == "semantic" || item.text() == "parse")) return "cfq";
  }
  return {};
}

}  // namespace triad::apps
