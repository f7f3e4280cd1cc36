// Byte-pair encoding: splits rare words into frequent parts, by merges that are read from a file or learned.
// SPDX-License-Identifier: Apache-2.0
//
// At first, each character of a word is a part, and </w> is appended to the last part.  A merge fits where its two
// parts are neighbours in the word.  Of all merges that fit, the merge that is earliest in the list is made at every
// place where it fits, from left to right.  This step is repeated until no merge fits.  Then @@ is written after each
// part except the last: "lowest" -> "low@@ est".  If the last part ends in @@, this part is split before the @@.  So
// every word can be restored from its parts.  Only spaces (U+0020) separate words.  A tab or another Unicode space is a
// character of a word, as in subword-nmt.
//
// Merges are learned one after another.  The next merge is the pair of neighbouring parts that is most frequent in all
// words.  If several pairs are equally frequent, the last pair in byte order is taken.
//
// A file begins with the line `#version: 0.2`.  Each further line is a merge, written as its two parts with a space
// between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::text {

/// A merge: two parts of a word that are joined into one part.
using bpe_merge = std::pair<std::string, std::string>;

namespace detail {

inline constexpr std::string_view word_end = "</w>";
inline constexpr std::string_view part_mark = "@@";       // after each part except the last
inline constexpr std::string_view no_part_has = " \r\n";  // because a file has one merge on each line

inline bool is_part(std::string_view text) {
  return !text.empty() && text.find_first_of(no_part_has) == std::string_view::npos;
}

inline std::vector<std::string> characters_of_word(std::string_view word) {
  auto parts = characters(word);
  if (!parts.empty()) parts.back() += word_end;
  return parts;
}

// Makes one merge at every place where it fits, from left to right.
inline void merge_all(std::vector<std::string>& parts, bpe_merge const& merge) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parts.size(); ++kept) {
    bool const fits = i + 1 < parts.size() && parts[i] == merge.first && parts[i + 1] == merge.second;
    auto part = fits ? parts[i] + parts[i + 1] : std::move(parts[i]);
    parts[kept] = std::move(part);
    i += fits ? 2 : 1;
  }
  parts.resize(kept);
}

// Returns the two parts of a line that consists of two parts with one space between them.  Returns nothing for any
// other line.
inline std::optional<bpe_merge> merge_of(std::string const& line) {
  auto const space = std::min(line.find(' '), line.size());
  bpe_merge merge(line.substr(0, space), line.substr(std::min(space + 1, line.size())));
  if (!is_part(merge.first) || !is_part(merge.second)) return {};
  return merge;
}

// The merges in the order of the list.  If a merge occurs twice, only its first place in the list counts.
class ranked_merges {
 public:
  void add(bpe_merge merge) {
    ranks_.emplace(key(merge.first, merge.second), all_.size());
    all_.push_back(std::move(merge));
  }
  std::vector<bpe_merge> const& all() const { return all_; }

  /// Takes the earliest merge in the list that fits, and makes this merge at every place where it fits.  Repeats this
  /// step until no merge fits.
  void join(std::vector<std::string>& parts) const {
    for (;;) {
      auto best = all_.size();
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        auto const rank = ranks_.find(key(parts[i], parts[i + 1]));
        if (rank != ranks_.end() && rank->second < best) best = rank->second;
      }
      if (best == all_.size()) return;
      merge_all(parts, all_[best]);
    }
  }

 private:
  static std::string key(std::string_view left, std::string_view right) { return (std::string(left) += ' ') += right; }

  std::vector<bpe_merge> all_;
  std::unordered_map<std::string, std::size_t> ranks_;
};

}  // namespace detail

using detail::merge_of;

/// Applies merges to text.  Stores the parts of every word that was encoded, so that equal words are encoded only once.
class bpe {
 public:
  /// Throws contract_violation if a part is empty, or contains a space or a line end, because a file cannot hold such a
  /// part.
  explicit bpe(std::vector<bpe_merge> merges) {
    for (auto& merge : merges) {
      TRIAD_EXPECTS(detail::is_part(merge.first) && detail::is_part(merge.second),
                    "bpe: a merge of '" + merge.first + "' and '" + merge.second +
                        "', expected parts that are not empty and have neither spaces nor line ends");
      merges_.add(std::move(merge));
    }
  }

  /// Reads merges from a file.  Throws data_error, with file and line, if a line is not a merge.
  static bpe read(std::string const& path) {
    gz_lines lines(path);
    std::string line;
    if (!lines.next(line) || joined(words(line)) != "#version: 0.2")
      throw data_error(path +
                       ":1: expected the line '#version: 0.2': files without it mark the ends of words otherwise; "
                       "learn the merges again");
    std::vector<bpe_merge> merges;
    while (lines.next(line)) {
      if (line.empty()) continue;
      auto merge = detail::merge_of(line);
      if (!merge)
        throw data_error(path + ":" + std::to_string(lines.number()) +
                         ": two parts of a word with a space between them are expected");
      merges.push_back(*std::move(merge));
    }
    return bpe(std::move(merges));
  }

  /// Writes the merges in the form that read() reads.
  void write(std::ostream& out) const {
    out << "#version: 0.2\n";
    for (auto const& [left, right] : merges()) out << left << ' ' << right << '\n';
  }

  [[nodiscard]] std::span<bpe_merge const> merges() const { return merges_.all(); }

  /// Returns the parts of a word, without marks.
  std::vector<std::string> const& parts(std::string const& word) {
    auto const known = parts_.find(word);
    if (known != parts_.end()) return known->second;
    auto parts = detail::characters_of_word(word);
    merges_.join(parts);
    if (!parts.empty()) {
      auto& last = parts.back();
      last.resize(last.size() - detail::word_end.size());
      if (last.size() > detail::part_mark.size() && last.ends_with(detail::part_mark)) {
        last.resize(last.size() - detail::part_mark.size());
        parts.emplace_back(detail::part_mark);
      }
    }
    return parts_.emplace(word, std::move(parts)).first->second;
  }

  /// Converts a line of words to a line of parts.  @@ follows each part that is not the last part of its word.
  std::string apply(std::string_view line) {
    std::vector<std::string> result;
    for (auto const& word : words_between_spaces(line)) {
      auto const& all = parts(word);
      for (std::size_t i = 0; i < all.size(); ++i)
        result.push_back(i + 1 < all.size() ? all[i] + std::string(detail::part_mark) : all[i]);
    }
    return joined(result);
  }

  /// Joins the parts of a line into words.  This is the inverse of apply().  A part is never empty, so a part that is
  /// only @@ is the last part of a word.
  static std::string undo(std::string_view line) {
    std::string result;
    bool open = true;  // whether the next part follows without a space
    for (auto const& part : words_between_spaces(line)) {
      if (!open) result += ' ';
      open = part.size() > detail::part_mark.size() && part.ends_with(detail::part_mark);
      result += std::string_view(part).substr(0, part.size() - (open ? detail::part_mark.size() : 0));
    }
    return result;
  }

 private:
  detail::ranked_merges merges_;
  std::unordered_map<std::string, std::vector<std::string>> parts_;
};

/// Learns merges from words and their counts.  Stops after `most` merges, or when no pair occurs at least `least` times
/// (and at least once).  Throws contract_violation if a word has a space or a line end.  words_between_spaces() splits
/// a line into such words.
inline bpe learn_bpe(std::span<std::pair<std::string, long long> const> counted, std::size_t most,
                     long long least = 2) {
  std::vector<std::vector<std::string>> parts;
  std::map<bpe_merge, long long> pairs;
  std::map<bpe_merge, std::set<std::size_t>> words_with;  // may include words that no longer have the pair
  auto const count = [&](std::size_t w, long long times) {
    for (std::size_t i = 0; i + 1 < parts[w].size(); ++i) {
      auto const pair = bpe_merge(parts[w][i], parts[w][i + 1]);
      pairs[pair] += times;
      if (times > 0) words_with[pair].insert(w);
    }
  };
  for (std::size_t w = 0; w < counted.size(); ++w) {
    TRIAD_EXPECTS(counted[w].first.find_first_of(detail::no_part_has) == std::string::npos,
                  "learn_bpe: the word '" + counted[w].first +
                      "', expected no space or line end in it; cut lines with words_between_spaces()");
    parts.push_back(detail::characters_of_word(counted[w].first));
    count(w, counted[w].second);
  }
  std::vector<bpe_merge> merges;
  while (merges.size() < most) {
    auto best = pairs.end();
    for (auto p = pairs.begin(); p != pairs.end(); ++p)
      if (best == pairs.end() || p->second >= best->second) best = p;
    if (best == pairs.end() || best->second < least || best->second < 1) break;
    auto const merge = best->first;
    merges.push_back(merge);
    for (auto const w : words_with[merge]) {
      count(w, -counted[w].second);
      detail::merge_all(parts[w], merge);
      count(w, counted[w].second);
    }
    words_with.erase(merge);
    pairs.erase(merge);
  }
  return bpe(std::move(merges));
}

}  // namespace triad::text
