// Splits lines into tokens for BLEU, in four of the ways that sacreBLEU defines.
// SPDX-License-Identifier: Apache-2.0
//
//   none  words between white space, for text that is already tokenised
//   char  every character that is not white space
//   13a   as mteval-v13a: every ASCII symbol is a token; so is every full stop and comma that is not between digits,
//         and every hyphen after a digit
//   zh    every Chinese character is a token; the rest as 13a, but entities such as &amp; are not replaced
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "triad/io/text/characters.hpp"

namespace triad::text {

enum class bleu_tokens { none, characters, mteval_13a, chinese };

/// The name of the tokenisation as sacreBLEU prints it.
constexpr std::string_view name(bleu_tokens t) {
  return t == bleu_tokens::none         ? "none"
         : t == bleu_tokens::characters ? "char"
         : t == bleu_tokens::mteval_13a ? "13a"
                                        : "zh";
}

/// Whether the tokenisation `zh` separates this character.  sacreBLEU lists ranges of characters: the blocks of Chinese
/// characters and of Chinese punctuation.  Two ranges should contain characters above U+FFFF, but sacreBLEU writes the
/// bounds of these ranges as strings of two characters.  As a result, these ranges contain U+2001 to U+2A6D (quotation
/// marks, dashes, arrows), and no character above U+FFFF.  This function does the same, so that its scores can be
/// compared with published scores.
constexpr bool is_chinese(char32_t c) {
  struct range {
    char32_t first, last;
  };
  constexpr range ranges[] = {{0x2001, 0x2a6d}, {0x2e80, 0x2fdf}, {0x2ff0, 0x303f}, {0x3100, 0x312f}, {0x31a0, 0x31bf},
                              {0x31c0, 0x31ef}, {0x3200, 0x33ff}, {0x3400, 0x4db5}, {0x4e00, 0x9fbb}, {0xf900, 0xfa2d},
                              {0xfa30, 0xfa6a}, {0xfa70, 0xfad9}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe4f}, {0xff00, 0xffef}};
  for (auto const& r : ranges)
    if (c >= r.first && c <= r.last) return true;
  return false;
}

namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_no_digit(char c) { return !is_digit(c); }
constexpr bool is_stop(char c) { return c == '.' || c == ','; }
constexpr bool is_hyphen(char c) { return c == '-'; }
// The ASCII symbols, except apostrophe, comma, hyphen and full stop.
constexpr bool is_symbol(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Finds the pairs of neighbouring bytes that `first` and `second` accept, from left to right.  Pairs do not overlap.  A
// pair becomes `before`, its first byte, a space, its second byte, and `after`.  The function can treat bytes as
// characters, because `first` and `second` test only for ASCII characters and give the same result for all bytes of
// other characters.
template <class First, class Second>
std::string spaced(std::string_view text, First first, Second second, std::string_view before, std::string_view after) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      (result += before) += text[i++];
      ((result += ' ') += text[i]) += after;
    } else {
      result += text[i];
    }
  }
  return result;
}

inline std::vector<std::string> western_tokens(std::string_view text) {
  std::string alone;
  for (char const c : text) {
    if (is_symbol(c)) {
      ((alone += ' ') += c) += ' ';
    } else {
      alone += c;
    }
  }
  alone = spaced(alone, is_no_digit, is_stop, "", " ");
  alone = spaced(alone, is_stop, is_no_digit, " ", "");
  return words(spaced(alone, is_digit, is_hyphen, "", " "));
}

inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace detail

/// Returns the tokens of one line.
inline std::vector<std::string> tokenize(std::string_view line, bleu_tokens how) {
  if (how == bleu_tokens::none) return words(line);
  std::string text;
  if (how == bleu_tokens::mteval_13a) {
    text = line;
    detail::replace_all(text, "<skipped>", "");
    detail::replace_all(text, "&quot;", "\"");
    detail::replace_all(text, "&amp;", "&");
    detail::replace_all(text, "&lt;", "<");
    detail::replace_all(text, "&gt;", ">");
    return detail::western_tokens(' ' + text + ' ');
  }
  line = trimmed(line);
  for (std::size_t at = 0; at < line.size();) {
    auto const c = character_at(line, at);
    bool const alone = how == bleu_tokens::characters || is_chinese(c.code);
    if (alone) text += ' ';
    text += line.substr(at, c.bytes);
    if (alone) text += ' ';
    at += c.bytes;
  }
  return how == bleu_tokens::characters ? words(text) : detail::western_tokens(text);
}

}  // namespace triad::text
