// Byte-level byte-pair encoding as in GPT-2 and RoBERTa.  Converts text to the numbers of a published vocabulary, and
// back.
// SPDX-License-Identifier: Apache-2.0
//
//   text    is split into pieces: runs of letters, of numbers, and of other characters, each with the space before it;
//           's 't 're 've 'm 'll 'd; and the remaining white space
//   piece   is written as its bytes, each as one printable character (a space as U+0120)
//   parts   neighbours are joined until no pair of merges.txt is left; the pair with the earliest line is joined first
//           (if a pair has two lines, the first counts)
//   numbers of the parts are read from vocab.json, {part: number ...}
//
// Text is encoded without changes.  If the vocabulary has the characters of all bytes, decode() restores every byte,
// whether or not the text is UTF-8.  `<s>` and similar tokens in a text are encoded as plain text.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/json_file.hpp"
#include "triad/io/text/bpe.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/gz_lines.hpp"
#include "triad/io/text/token_list.hpp"
#include "triad/io/text/unicode.hpp"

namespace triad::text {

namespace detail {

// Returns the character of each byte.  A byte that is a printable character of Latin-1 becomes this character.  The
// other bytes, in ascending order, become U+0100, U+0101 and so on.
inline std::array<std::string, 256> characters_of_bytes() {
  std::array<std::string, 256> all;
  unsigned next = 0x100;
  for (unsigned b = 0; b < 256; ++b) {
    bool const printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b != 0xad);
    unsigned const code = printable ? b : next++;
    if (code < 0x80)
      all[b] = static_cast<char>(code);
    else
      all[b] = {static_cast<char>(0xc0U | (code >> 6U)), static_cast<char>(0x80U | (code & 0x3fU))};
  }
  return all;
}

// Whether c is Unicode white space.  Unlike Python, excludes the four ASCII separators 0x1c to 0x1f.
constexpr bool is_white(char32_t c) { return is_space(c) && !(c >= 0x1c && c <= 0x1f); }

}  // namespace detail

/// Splits a text into its pieces, in order.  Together, the pieces are the whole text.
inline std::vector<std::string_view> byte_bpe_pieces(std::string_view text) {
  enum kind { white, letter, number, other };
  auto const kind_at = [&](std::size_t at) {
    auto const c = character_at(text, at).code;
    return detail::is_white(c) ? white : is_letter(c) ? letter : is_number(c) ? number : other;
  };
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (text[at] == '\'')
      for (std::string_view const s : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
        if (text.substr(at).starts_with(s)) end = at + s.size();
    if (end == at) {
      std::size_t const first = text[at] == ' ' && at + 1 < text.size() && kind_at(at + 1) != white ? at + 1 : at;
      auto const k = kind_at(first);
      std::size_t last = first;  // the first byte of the run's last character
      for (end = first; end < text.size() && kind_at(end) == k; end += character_at(text, end).bytes) last = end;
      // If text follows a run of several white space characters, the last white space character belongs to the next
      // piece.
      if (k == white && end < text.size() && last > at) end = last;
    }
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

class byte_bpe {
 public:
  /// Reads vocab.json and merges.txt of a folder.  If the form of a file is wrong, throws data_error with file and
  /// line, or with the token.
  static byte_bpe read(std::string const& folder) {
    auto const in = std::filesystem::path(folder);
    std::error_code ignored;
    if (!std::filesystem::exists(in / "vocab.json", ignored) && std::filesystem::exists(in / "tokenizer.json", ignored))
      throw data_error((in / "vocab.json").string() +
                       ": found only a tokenizer.json next to it, expected vocab.json and merges.txt; make them: "
                       "tokenizers.Tokenizer.from_file(\"tokenizer.json\").model.save(\".\") in Python");
    return read((in / "vocab.json").string(), (in / "merges.txt").string());
  }
  static byte_bpe read(std::string const& vocabulary, std::string const& merges) {
    auto const json = read_json_file(vocabulary);
    if (!json.is_object()) throw data_error(vocabulary + ": an object {token: number ...} is expected");
    byte_bpe result({tokens_by_number(json, vocabulary), vocabulary}, vocabulary);
    result.read_merges(merges);
    return result;
  }
  /// Makes an encoding from a list of tokens and a list of merges.  The number of a token is its index in the list.  An
  /// empty token means that its number is unused.  `file` is the name of the source in messages.
  static byte_bpe of(std::vector<std::string> const& tokens, std::vector<bpe_merge> const& merges,
                     std::string const& file) {
    byte_bpe result({tokens, file}, file);
    for (auto const& merge : merges) result.merges_.add(merge);
    return result;
  }

  /// One more than the largest number of a token.
  [[nodiscard]] index_t size() const { return tokens_.size(); }
  // The numbers of <s>, </s>, <pad> and <unk>.
  [[nodiscard]] index_t begin() const { return begin_; }
  [[nodiscard]] index_t end() const { return end_; }
  [[nodiscard]] index_t padding() const { return padding_; }
  [[nodiscard]] index_t unknown() const { return unknown_; }
  [[nodiscard]] bool contains(std::string const& token) const { return tokens_.contains(token); }
  /// The tokens in the order of their numbers.  An empty token means that its number is unused.
  [[nodiscard]] std::vector<std::string> const& tokens() const { return tokens_.all(); }
  [[nodiscard]] std::vector<bpe_merge> const& merges() const { return merges_.all(); }

  /// Returns the parts of a text in the spelling of the vocabulary.
  [[nodiscard]] std::vector<std::string> parts(std::string_view text) const {
    std::vector<std::string> all;
    for (auto const piece : byte_bpe_pieces(text))
      for (auto& part : parts_of_piece(piece)) all.push_back(std::move(part));
    return all;
  }

  /// Returns the numbers of the parts of a text, without begin and end, because pair_loader adds both.  Stores the
  /// numbers of every encoded piece, so that equal pieces are encoded only once.
  std::vector<index_t> numbers(std::string_view text) {
    std::vector<index_t> all;
    for (auto const piece : byte_bpe_pieces(text)) {
      auto known = seen_.find(std::string(piece));
      if (known == seen_.end()) {
        std::vector<index_t> found;
        for (auto const& part : parts_of_piece(piece)) found.push_back(tokens_.number(part, unknown_));
        known = seen_.emplace(piece, std::move(found)).first;
      }
      all.insert(all.end(), known->second.begin(), known->second.end());
    }
    return all;
  }

  /// Returns the numbers of `<s> text </s>`.
  std::vector<index_t> encode(std::string_view text) {
    auto all = numbers(text);
    all.insert(all.begin(), begin_);
    all.push_back(end_);
    return all;
  }

  /// Returns the text for these numbers, without <s>, </s> and <pad>.
  [[nodiscard]] std::string decode(std::span<index_t const> numbers) const {
    std::string text;
    for (auto const n : numbers) {
      auto const& token = tokens_.token(n);
      if (n == begin_ || n == end_ || n == padding_) continue;
      for (auto const& c : characters(token)) {
        auto const byte = bytes_.find(c);
        if (byte == bytes_.end())
          text += c;
        else
          text += byte->second;
      }
    }
    return text;
  }

 private:
  byte_bpe(token_list tokens, std::string const& file) : tokens_(std::move(tokens)) {
    for (std::size_t b = 0; b < 256; ++b) bytes_.emplace(letters_[b], static_cast<char>(b));
    auto const special = [&](char const* token) { return tokens_.need(token, file, "RoBERTa"); };
    begin_ = special("<s>");
    end_ = special("</s>");
    padding_ = special("<pad>");
    unknown_ = special("<unk>");
  }

  void read_merges(std::string const& path) {
    gz_lines lines(path);
    for (std::string line; lines.next(line);) {
      if (line.empty() || (lines.number() == 1 && line.starts_with("#version"))) continue;
      auto merge = detail::merge_of(line);
      if (!merge)
        throw data_error(path + ":" + std::to_string(lines.number()) +
                         ": two parts with a space between them are expected");
      merges_.add(*std::move(merge));
    }
  }

  [[nodiscard]] std::vector<std::string> parts_of_piece(std::string_view piece) const {
    std::vector<std::string> parts;
    for (char const c : piece) parts.push_back(letters_[static_cast<unsigned char>(c)]);
    merges_.join(parts);
    return parts;
  }

  std::array<std::string, 256> letters_ = detail::characters_of_bytes();
  std::unordered_map<std::string, char> bytes_;  // the byte for each printable character
  token_list tokens_;
  detail::ranked_merges merges_;
  std::unordered_map<std::string, std::vector<index_t>> seen_;
  index_t begin_ = 0, end_ = 0, padding_ = 0, unknown_ = 0;
};

}  // namespace triad::text
