// The tokens that a model knows, numbered; files of the common form `token count`.
// SPDX-License-Identifier: Apache-2.0
//
//   0 <s> begins a sentence   1 <pad> fills a row   2 </s> ends a sentence   3 <unk> stands for what is unknown
//   4 and on: the tokens of the file, in its order
// One line each, the token, a space and how often it occurs; the four above are not in the file.
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

/// How often each token occurs, while texts are read.
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

  /// The most frequent first; of tokens as frequent, the first in the order of bytes.
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

  /// The tokens that occur `least` times or more, the most frequent first.
  static dictionary build(token_counts const& counts, long long least = 1) {
    dictionary result;
    for (auto const& [token, count] : counts.sorted())
      if (count >= least && !result.contains(token)) result.enter(token, count);
    return result;
  }

  /// The dictionary of these tokens and how often each occurs, in their order; throws data_error where one is there
  /// twice.
  static dictionary of(std::span<std::pair<std::string, long long> const> entries) {
    dictionary result;
    for (auto const& [token, count] : entries) {
      if (result.contains(token)) throw data_error("'" + token + "' is twice in a dictionary");
      result.enter(token, count);
    }
    return result;
  }

  /// Reads a file, gzipped or plain; throws data_error, with file and line, where a line has not the form.
  static dictionary read(std::string const& path) {
    dictionary result;
    gz_lines lines(path);
    auto const fail = [&](std::string const& reason) -> void {
      throw data_error(path + ":" + std::to_string(lines.number()) + ": " + reason);
    };
    for (std::string line; lines.next_text(line);) {
      if (line.empty()) continue;
      auto const space = line.rfind(' ');
      auto const last = line.data() + line.size();
      long long count = -1;
      if (space != std::string::npos) {
        auto const number = std::from_chars(line.data() + space + 1, last, count);
        if (number.ec != std::errc() || number.ptr != last) count = -1;
      }
      if (space == 0 || space == std::string::npos || count < 0) fail("a token, a space and a count are expected");
      auto const token = std::string_view(line).substr(0, space);
      if (result.contains(token))
        fail("'" + std::string(token) + "' is in the dictionary already; remove one of the two lines");
      result.enter(token, count);
    }
    return result;
  }

  /// Writes the file that read() reads.
  void write(std::ostream& out) const {
    for (std::size_t i = specials; i < tokens_.size(); ++i) out << tokens_[i].first << ' ' << tokens_[i].second << '\n';
  }

  [[nodiscard]] index_t size() const { return static_cast<index_t>(tokens_.size()); }
  [[nodiscard]] bool contains(std::string_view token) const { return numbers_.count(std::string(token)) != 0; }

  /// The number of a token, or `unknown`.
  [[nodiscard]] index_t number(std::string_view token) const {
    auto const at = numbers_.find(std::string(token));
    return at == numbers_.end() ? unknown : at->second;
  }

  [[nodiscard]] std::string const& token(index_t number) const { return entry(number).first; }
  [[nodiscard]] long long count(index_t number) const { return entry(number).second; }

  /// The words of a line as numbers: what pair_loader takes, which puts the ends.
  [[nodiscard]] std::vector<index_t> numbers(std::string_view line) const {
    std::vector<index_t> result;
    for (auto const& word : words(line)) result.push_back(number(word));
    return result;
  }
  /// The same with `end` behind them.
  [[nodiscard]] std::vector<index_t> encode(std::string_view line) const {
    auto result = numbers(line);
    result.push_back(end);
    return result;
  }

  /// The tokens of numbers up to the first `end`, with spaces between them; what begins and fills is left out.
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
    numbers_.emplace(token, size());
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
};

}  // namespace triad::text
