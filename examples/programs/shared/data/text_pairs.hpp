// Pairs of source and target text for sequence-to-sequence models, in the published formats.
// SPDX-License-Identifier: Apache-2.0
//
//   SCAN      IN: jump twice OUT: I_JUMP I_JUMP       one line for each pair
//   columns   source<TAB>target, as in CFQ; or source<TAB>target<TAB>kind, as in COGS
//   parallel  two files with one line for each pair, as usual in translation
// All files may be gzipped.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "each_line.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::programs {

/// The names of columns in such files, in upper or lower case.  A first row with only these names is a header, not a
/// pair.
inline constexpr std::array<std::string_view, 21> column_names{
    "source", "src",   "input",        "sentence",     "question",     "command", "text",
    "target", "tgt",   "output",       "translation",  "query",        "sparql",  "actions",
    "lf",     "label", "logical form", "logical_form", "distribution", "kind",    "type"};

/// Returns true if a line consists of two or more names of columns, with `separator` between them.
inline bool is_header(std::string_view line, char separator = '\t') {
  std::size_t columns = 0;
  for (std::size_t begin = 0; begin <= line.size(); ++columns) {
    auto const end = std::min(line.find(separator, begin), line.size());
    std::string name;
    for (auto const& word : text::words(line.substr(begin, end - begin))) name += (name.empty() ? "" : " ") + word;
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (std::find(column_names.begin(), column_names.end(), name) == column_names.end()) return false;
    begin = end + 1;
  }
  return columns > 1;
}

/// Throws data_error if the first row is a header.
inline void expect_no_header(std::string_view first_row) {
  if (is_header(first_row))
    refuse("found a header, the names of the columns, expected the first example; remove this line");
}

struct text_pair {
  std::string source, target;  // tokens separated by single spaces; neither is empty
  std::string kind;            // the kind of sentence; empty if the file does not name it

  friend bool operator==(text_pair const&, text_pair const&) = default;
};

/// Reads a line of SCAN.  Throws data_error.
inline text_pair from_scan(std::string_view line) {
  constexpr std::string_view in = "IN:", out = " OUT:";
  auto const at = line.find(out);
  if (!line.starts_with(in) || at == std::string_view::npos || line.find(out, at + 1) != std::string_view::npos)
    refuse("a line of SCAN is expected: IN: command OUT: actions");
  return {text::joined(text::words(line.substr(in.size(), at - in.size()))),
          text::joined(text::words(line.substr(at + out.size()))),
          {}};
}

/// Reads a line of two or three columns, separated by tabs.  Throws data_error.
inline text_pair from_columns(std::string_view line) {
  constexpr auto none = std::string_view::npos;
  auto const first = line.find('\t'), second = first == none ? none : line.find('\t', first + 1);
  if (first == none || (second != none && line.find('\t', second + 1) != none))
    refuse("source and target, or source, target and kind, are expected with tabs between them");
  auto const target = line.substr(first + 1, second == none ? none : second - first - 1);
  return {text::joined(text::words(line.substr(0, first))), text::joined(text::words(target)),
          second == none ? std::string() : std::string(line.substr(second + 1))};
}

namespace detail {

inline void expect_words(text_pair const& pair) {
  if (pair.source.empty()) refuse("the source has no words");
  if (pair.target.empty()) refuse("the target has no words");
}

}  // namespace detail

/// Reads the pairs of one file.  If its first line begins with IN:, the file has the form of SCAN; otherwise it has
/// columns without a header.  Throws data_error with file and line if a line has another form, or if expect(pair)
/// throws.
inline std::vector<text_pair> read_pairs(std::string const& path,
                                         std::function<void(text_pair const&)> const& expect = {}) {
  std::vector<text_pair> pairs;
  bool scan = false;
  each_line(path, [&](std::string const& line) {
    if (pairs.empty()) {
      scan = line.starts_with("IN:");
      expect_no_header(line);
    }
    pairs.push_back(scan ? from_scan(line) : from_columns(line));
    detail::expect_words(pairs.back());
    if (expect) expect(pairs.back());
  });
  if (pairs.empty()) refuse("{}: there is no pair in it", path);
  return pairs;
}

/// Reads pairs from two files: line i of both files is pair i.  Throws data_error if one file has more lines, or if a
/// line has no words.
inline std::vector<text_pair> read_parallel(std::string const& sources, std::string const& targets) {
  std::vector<text_pair> pairs;
  text::gz_lines from(sources), to(targets);
  for (std::string source, target;;) {
    bool const more = from.next_text(source), more_there = to.next_text(target);
    if (more != more_there) {
      auto const& shorter = more ? to : from;
      auto const& longer = more ? from : to;
      refuse("{}:{}: {} ends before this line; expected a line for each line", longer.path(), longer.number(),
             shorter.path());
    }
    if (!more) break;
    pairs.push_back({text::joined(text::words(source)), text::joined(text::words(target)), {}});
    if (pairs.back().source.empty()) refuse("{}:{}: the line has no words", sources, from.number());
    if (pairs.back().target.empty()) refuse("{}:{}: the line has no words", targets, to.number());
  }
  if (pairs.empty()) refuse("{}: there is no line in it", sources);
  return pairs;
}

}  // namespace triad::programs
