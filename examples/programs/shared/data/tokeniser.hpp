// Splits plain text into words and punctuation marks, in the manner of the Moses tokeniser for English.
// SPDX-License-Identifier: Apache-2.0
//
//   Letters, numbers and hyphens stay together. Every other mark is a token of its own, with these exceptions:
//   ...    two or more full stops are one token
//   ,      stays between digits: 1,000
//   '      joins the text after it if it is between letters, or between a number and an s: it 's, the 1990 's;
//          elsewhere it is a token
//   .      stays inside a word: 3.14, U.S; after a word it is a token, unless the word has another full stop and a
//          letter (U.S.), is a common abbreviation (Mr., Prof., e.g.; No. before a number) or a single capital, or is
//          followed by a small letter
//
// The text must not have combining characters: a combining accent, or a vowel sign of Devanagari, would become a token
// of its own. Nothing is escaped, and upper and lower case are kept. So the tokens, joined without spaces, are the text
// without its spaces.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "triad/io/text/characters.hpp"
#include "triad/io/text/unicode.hpp"

namespace triad::programs {

namespace detail {

using text::character_at, text::is_letter, text::is_number;

/// Returns true for a small letter of ASCII, Latin-1, Greek or Cyrillic.
constexpr bool is_small(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0xff && c != 0xf7) || (c >= 0x3ac && c <= 0x3ce) ||
         (c >= 0x430 && c <= 0x45f);
}

/// Returns true for a word that is written with a full stop, even in the middle of a sentence.
inline bool is_abbreviation(std::string_view word) {
  static constexpr std::array known{
      "Mr",  "Mrs",  "Ms",   "Dr",   "Prof", "St",   "Sr",  "Jr",  "Gen",  "Col", "Lt",     "Capt", "Sgt",
      "Rev", "Hon",  "Gov",  "Sen",  "Rep",  "Pres", "vs",  "etc", "cf",   "al",  "approx", "Corp", "Inc",
      "Ltd", "Bros", "Dept", "Univ", "Assn", "Mt",   "Ft",  "Ave", "Blvd", "Rd",  "Jan",    "Feb",  "Mar",
      "Apr", "Jun",  "Jul",  "Aug",  "Sep",  "Sept", "Oct", "Nov", "Dec",  "vol", "Fig",    "Eq"};
  return (word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z') ||
         std::find(known.begin(), known.end(), word) != known.end();
}
/// Returns true for a word that is written with a full stop if a number follows.
inline bool is_abbreviation_before_numbers(std::string_view word) {
  return word == "No" || word == "Nos" || word == "Art" || word == "Nr" || word == "pp" || word == "p";
}

/// The characters of a text.  c[i] is 0 outside the text, so neighbours of any character can be read.
class character_row {
 public:
  explicit character_row(std::string_view text) : text_(text) {
    for (std::size_t at = 0; at < text.size();) {
      auto const c = character_at(text, at);
      codes_.push_back(c.code);
      at_.push_back(at);
      at += c.bytes;
    }
    at_.push_back(text.size());
  }
  std::size_t size() const { return codes_.size(); }
  char32_t operator[](std::size_t i) const {
    return i < codes_.size() ? codes_[i] : 0;
  }  // the index i - 1 of the first character wraps around
  std::string_view bytes(std::size_t i) const { return text_.substr(at_[i], at_[i + 1] - at_[i]); }

 private:
  std::string_view text_;
  std::vector<char32_t> codes_;
  std::vector<std::size_t> at_;
};

/// Appends the tokens of a word to `tokens`.  A full stop at the end is not cut off.
inline void cut_word(std::string_view word, std::vector<std::string>& tokens) {
  character_row const c(word);
  bool open = false;  // whether the next character may join the last token
  auto const put = [&](std::size_t i, bool goes_on, bool stays_open) {
    if (goes_on && open)
      tokens.back() += c.bytes(i);
    else
      tokens.emplace_back(c.bytes(i));
    open = stays_open;
  };
  for (std::size_t i = 0; i < c.size(); ++i) {
    auto const before = c[i - 1], now = c[i], next = c[i + 1];
    if (now == '.' && (next == '.' || before == '.')) {
      put(i, before == '.', next == '.');
    } else if (is_letter(now) || is_number(now) || now == '-' || now == '.') {
      put(i, true, true);
    } else if (now == ',' && is_number(before) && is_number(next)) {
      put(i, true, true);
    } else if (now == '\'' && ((is_letter(before) && is_letter(next)) || (is_number(before) && next == 's'))) {
      put(i, false, true);
    } else {
      put(i, false, false);
    }
  }
}

inline bool keeps_its_stop(std::string_view word, std::string_view next) {
  bool const has_stop = word.find('.') != std::string_view::npos;
  character_row const letters(word), following(next);
  for (std::size_t i = 0; has_stop && i < letters.size(); ++i)
    if (is_letter(letters[i])) return true;
  return is_abbreviation(word) || is_small(following[0]) ||
         (is_abbreviation_before_numbers(word) && is_number(following[0]));
}

}  // namespace detail

/// Returns the tokens of a text.
inline std::vector<std::string> tokens_of(std::string_view plain) {
  std::vector<std::string> cut, tokens;
  for (auto const& word : text::words(plain)) detail::cut_word(word, cut);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    std::string_view const word = cut[i];
    bool const ends = word.size() > 1 && word.back() == '.' && word[word.size() - 2] != '.';
    auto const bare = word.substr(0, word.size() - 1);
    if (!ends || detail::keeps_its_stop(bare, i + 1 < cut.size() ? std::string_view(cut[i + 1]) : std::string_view())) {
      tokens.push_back(cut[i]);
      continue;
    }
    tokens.emplace_back(bare);
    tokens.emplace_back(".");
  }
  return tokens;
}

}  // namespace triad::programs
