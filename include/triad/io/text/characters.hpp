// Characters and words of UTF-8 text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace triad::text {

/// One character of a text: its code point and its number of bytes.
struct character {
  char32_t code;      // 0xfffd if the bytes are not UTF-8; each such byte counts as one character
  std::size_t bytes;  // from 1 to 4
};

/// Returns the character that begins at byte `at` of the text.  `at` must be less than the text's size.
inline character character_at(std::string_view text, std::size_t at) {
  constexpr auto broken = character{0xfffd, 1};
  auto const byte = [&](std::size_t i) -> char32_t { return static_cast<unsigned char>(text[at + i]); };
  char32_t const first = byte(0);
  if (first < 0x80) return {first, 1};
  std::size_t const bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes == 0 || at + bytes > text.size()) return broken;
  char32_t code = first & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return broken;
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  bool const too_long = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (too_long || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return broken;
  return {code, bytes};
}

/// Returns the index of the first byte that is not valid UTF-8, or npos if the text is valid.
inline std::size_t first_broken_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    auto const c = character_at(text, at);
    if (c.code == 0xfffd && c.bytes == 1) return at;
    at += c.bytes;
  }
  return std::string_view::npos;
}

/// Returns all characters of a text, each as a string of its bytes.
inline std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    auto const bytes = character_at(text, at).bytes;
    result.emplace_back(text.substr(at, bytes));
    at += bytes;
  }
  return result;
}

/// Whether c is Unicode white space, or one of the four ASCII separators 0x1c to 0x1f.  Python splits text at these
/// characters.
constexpr bool is_space(char32_t c) {
  return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/// Returns the words of a text, which are separated by white space.  No word is empty.
inline std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    auto const c = character_at(text, at);
    bool const space = is_space(c.code);
    if (!space && !inside) result.emplace_back();
    if (!space) result.back().append(text.substr(at, c.bytes));
    inside = !space;
    at += c.bytes;
  }
  return result;
}

/// Returns the words of a line, which are separated by spaces (U+0020), as byte-pair encodings need them.  Line ends at
/// the end of the line are removed.  Other white space is part of a word.  No word is empty.
inline std::vector<std::string> words_between_spaces(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  std::vector<std::string> result;
  for (std::size_t at = 0; at < line.size();) {
    auto const end = std::min(line.find(' ', at), line.size());
    if (end > at) result.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

/// Returns a text that consists of the words, with a space between neighbouring words.
inline std::string joined(std::vector<std::string> const& words) {
  std::string result;
  for (auto const& word : words) (result += result.empty() ? "" : " ") += word;
  return result;
}

/// Returns the text without the white space at its beginning and its end.
inline std::string_view trimmed(std::string_view text) {
  std::size_t first = text.size(), last = 0;  // the bounds of the result
  for (std::size_t at = 0; at < text.size();) {
    auto const c = character_at(text, at);
    if (!is_space(c.code)) {
      if (first > at) first = at;
      last = at + c.bytes;
    }
    at += c.bytes;
  }
  return first < last ? text.substr(first, last - first) : std::string_view();
}

}  // namespace triad::text
