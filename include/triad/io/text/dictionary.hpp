// The tokens that a model knows, with their numbers.  A dictionary is read from a file with lines `token count`.
// SPDX-License-Identifier: Apache-2.0
//
//   0 <s> begins a sentence   1 <pad> fills a row   2 </s> ends a sentence   3 <unk> stands for an unknown token
//   4 and on: the tokens of the file, in its order
//
// Each line has a token, a space and the number of times that the token occurs.  The four tokens above are not in the
// file.  As in fairseq, a line may have ` #fairseq:overwrite` after the count.  Such a line may contain a token that
// already has a number, such as one of the four tokens above.  The token then gets the number of this line.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::text {

/// Counts the tokens of texts.
class token_counts {
 public:
  void add(std::string_view token) {
    auto const at = counts_.find(token);
    if (at == counts_.end()) {
      counts_.emplace(token, 1);
    } else {
      ++at->second;
    }
  }
  void add_line(std::string_view line) {
    for (auto const& word : words(line)) add(word);
  }

  /// Returns the tokens with their counts, the most frequent token first.  Equally frequent tokens are in byte order.
  [[nodiscard]] std::vector<std::pair<std::string, long long>> sorted() const {
    std::vector<std::pair<std::string, long long>> result(counts_.begin(), counts_.end());
    std::stable_sort(result.begin(), result.end(), [](auto const& a, auto const& b) { return a.second > b.second; });
    return result;
  }

 private:
  std::map<std::string, long long, std::less<>> counts_;
};

class dictionary {
 public:
  static constexpr index_t begin = 0, padding = 1, end = 2, unknown = 3, specials = 4;

  dictionary() {
    for (auto const* token : {"<s>", "<pad>", "</s>", "<unk>"}) enter(token, 0);
  }

  /// Returns a dictionary of the tokens that occur at least `least` times, the most frequent token first.
  static dictionary build(token_counts const& counts, long long least = 1) {
    dictionary result;
    for (auto const& [token, count] : counts.sorted())
      if (count >= least && !result.contains(token)) result.enter(token, count);
    return result;
  }

  /// Returns a dictionary of pairs (token, count), in the order of `entries`.  Throws data_error if a token is
  /// repeated, unless the index of the entry that repeats it is in `overwriting`.
  static dictionary of(std::span<std::pair<std::string, long long> const> entries,
                       std::span<index_t const> overwriting = {}) {
    dictionary result;
    for (auto const& [token, count] : entries) {
      bool const meant = std::find(overwriting.begin(), overwriting.end(), result.size()) != overwriting.end();
      if (result.contains(token) && !meant) throw data_error("'" + token + "' is twice in a dictionary");
      result.enter(token, count);
    }
    return result;
  }

  /// Reads a file, gzipped or plain.  Throws data_error, with file and line, if a line does not have the form above.
  static dictionary read(std::string const& path) {
    dictionary result;
    gz_lines lines(path);
    auto const fail = [&](std::string const& reason) -> void {
      throw data_error(path + ":" + std::to_string(lines.number()) + ": " + reason);
    };
    for (std::string line; lines.next_text(line);) {
      if (line.empty()) continue;
      auto entry = std::string_view(line).substr(0, line.find_last_not_of(" \t") + 1);
      constexpr std::string_view flag = " #fairseq:overwrite";
      bool const overwrites = entry.ends_with(flag);
      if (overwrites) entry.remove_suffix(flag.size());
      auto const space = entry.rfind(' ');
      auto const number = entry.substr(std::min(space, entry.size() - 1) + 1);
      long long count = -1;
      auto const read = std::from_chars(number.data(), number.data() + number.size(), count);
      if (space == 0 || space == std::string_view::npos || read.ec != std::errc() ||
          read.ptr != number.data() + number.size())
        fail("a token, a space and a count are expected");
      auto const token = std::string_view(entry).substr(0, space);
      if (count < 0) fail("'" + std::string(token) + "' has the count " + std::string(number) + ", expected 0 or more");
      if (result.contains(token) && !overwrites)
        fail(result.number(token) < specials
                 ? "'" + std::string(token) +
                       "' is a special token, which every dictionary has; remove the line, or write " +
                       "#fairseq:overwrite after it"
                 : "'" + std::string(token) + "' is in the dictionary already; remove one of the two lines");
      result.enter(token, count);
    }
    return result;
  }

  /// Writes a file that read() can read.
  void write(std::ostream& out) const {
    auto next = overwriting_.begin();
    for (std::size_t i = specials; i < tokens_.size(); ++i) {
      bool const overwrites = next != overwriting_.end() && static_cast<std::size_t>(*next) == i;
      if (overwrites) ++next;
      out << tokens_[i].first << ' ' << tokens_[i].second << (overwrites ? " #fairseq:overwrite\n" : "\n");
    }
  }

  /// The numbers of the entries whose token already had a number, in ascending order.
  [[nodiscard]] std::vector<index_t> const& overwriting() const { return overwriting_; }

  [[nodiscard]] index_t size() const { return static_cast<index_t>(tokens_.size()); }
  [[nodiscard]] bool contains(std::string_view token) const { return numbers_.count(std::string(token)) != 0; }

  /// Returns the number of a token, or `unknown` if the dictionary does not have the token.
  [[nodiscard]] index_t number(std::string_view token) const {
    auto const at = numbers_.find(std::string(token));
    return at == numbers_.end() ? unknown : at->second;
  }

  [[nodiscard]] std::string const& token(index_t number) const { return entry(number).first; }
  [[nodiscard]] long long count(index_t number) const { return entry(number).second; }

  /// Returns the numbers of the words of a line, without begin and end, because pair_loader adds both.
  [[nodiscard]] std::vector<index_t> numbers(std::string_view line) const {
    std::vector<index_t> result;
    for (auto const& word : words(line)) result.push_back(number(word));
    return result;
  }
  /// Returns the numbers of the words of a line, with `end` after the last word.
  [[nodiscard]] std::vector<index_t> encode(std::string_view line) const {
    auto result = numbers(line);
    result.push_back(end);
    return result;
  }

  /// Returns the tokens of these numbers up to the first `end`, with spaces between the tokens, and without <s> and
  /// <pad>.
  [[nodiscard]] std::string decode(std::span<index_t const> numbers) const {
    std::vector<std::string> result;
    for (auto const n : numbers) {
      if (n == end) break;
      if (n != begin && n != padding) result.push_back(token(n));
    }
    return joined(result);
  }

 private:
  void enter(std::string_view token, long long count) {
    if (!numbers_.insert_or_assign(std::string(token), size()).second) overwriting_.push_back(size());
    tokens_.emplace_back(token, count);
  }
  [[nodiscard]] std::pair<std::string, long long> const& entry(index_t number) const {
    if (number < 0 || number >= size())
      throw data_error("there is no token " + std::to_string(number) + " in a dictionary of " + std::to_string(size()) +
                       "; is it the dictionary the model was trained with?");
    return tokens_[static_cast<std::size_t>(number)];
  }

  std::vector<std::pair<std::string, long long>> tokens_;
  std::unordered_map<std::string, index_t> numbers_;
  std::vector<index_t> overwriting_;
};

}  // namespace triad::text
