// Reads, checks and writes sentences with dependencies in the format CoNLL-U.
// SPDX-License-Identifier: Apache-2.0
//
//   # a comment, before the first word of a sentence
//   1-2  don't  _ ...                            several words that are written as one; not a word; kept as read
//   1    do     do   AUX ...  0  root  _  _      ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC, separated by tabs
//   2.1  ...                                                     an empty node; not a word; kept as read
//   an empty line ends a sentence; the end of the file does too
//
// Words are counted as in the evaluation of the CoNLL 2018 shared task.  The format is described at
// universaldependencies.org/format.html.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/gz_lines.hpp"
#include "triad/io/text/line.hpp"

namespace triad::text {

struct conllu_word {
  std::string form;
  int head = -1;         // 1 .. n; 0: this word is the root of the sentence; -1: not read
  std::string relation;  // the whole DEPREL, including subtypes

  friend bool operator==(conllu_word const&, conllu_word const&) = default;
};

/// A sentence, and the lines from which it was read.
struct conllu_sentence {
  std::vector<conllu_word> words;
  std::vector<std::string> lines;   // without the empty line after them
  std::vector<std::size_t> places;  // for each word, the index of its line in `lines`
  long number = 1;                  // the number of the first line in its file, from 1
};

enum class conllu_heads {
  checked,
  ignored
};  // checked: the heads must be a tree; ignored: HEAD and DEPREL are not read, as for text to be parsed

namespace detail {

inline std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t at = 0;;) {
    auto const end = line.find('\t', at);
    columns.push_back(line.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return columns;
    at = end + 1;
  }
}

/// Returns the text as a number, or -1 if the text is not a number.
inline int plain_number(std::string_view text) {
  int value = -1;
  auto const* const end = text.data() + text.size();
  auto const read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end && value >= 0 ? value : -1;
}

}  // namespace detail

/// Whether a text with this first line is CoNLL-U.  The line must begin with `# `, as a comment does, or with an ID and
/// a tab, as a row does.  A text with a first line such as `#Word` is plain text.
inline bool begins_conllu(std::string_view line) {
  auto const id = line.substr(0, line.find_first_not_of("0123456789.-"));
  return line == "#" || line.starts_with("# ") ||
         (!id.empty() && id[0] >= '0' && id[0] <= '9' && line.substr(id.size()).starts_with('\t'));
}

/// Returns a word on a cycle of heads, or 0 if there is no cycle.  head(i) returns the head of word i, 1 .. n, or 0 if
/// word i is the root.
template <class Head>
int word_on_cycle(int n, Head const& head) {
  std::vector<int> seen(static_cast<std::size_t>(n) + 1, 0);  // for each word: the start of the first search that
                                                              // reached it
  for (int i = 1; i <= n; ++i) {
    int at = i;
    while (at != 0 && seen[static_cast<std::size_t>(at)] == 0) seen[static_cast<std::size_t>(at)] = i, at = head(at);
    if (at != 0 && seen[static_cast<std::size_t>(at)] == i) return at;
  }
  return 0;
}

/// Reads a file, gzipped or plain, sentence by sentence.  Throws data_error, with file and line, if the text is not
/// CoNLL-U.  With conllu_heads::checked, also throws data_error if the heads are not a tree with one root.
class conllu_reader {
 public:
  explicit conllu_reader(std::string const& path, conllu_heads heads = conllu_heads::checked)
      : lines_(std::in_place, path), called_(path), heads_(heads) {}
  /// Reads a text that is not gzipped.  The text must outlive the reader.  Messages use `called` as the name of the
  /// text.
  conllu_reader(std::istream& text, std::string called, conllu_heads heads = conllu_heads::checked)
      : text_(&text), called_(std::move(called)), heads_(heads) {}

  /// Reads the next sentence.  Returns false at the end of the file.
  bool next(conllu_sentence& s) {
    s = {};
    numbers_.clear();
    promised_ = 0;
    for (std::string line; next_line(line);) {
      if (line.empty()) {
        if (s.lines.empty()) continue;  // several empty lines
        finish(s);
        return true;
      }
      if (s.lines.empty()) s.number = number_;
      if (!(line[0] == '#' && s.words.empty() && !began_)) read_row(s, line);
      s.lines.push_back(std::move(line));
    }
    if (s.lines.empty()) return false;
    finish(s);
    return true;
  }

 private:
  bool next_line(std::string& line) {
    if (lines_) {
      bool const more = lines_->next_text(line);
      number_ = lines_->number();
      return more;
    }
    if (!std::getline(*text_, line)) return false;
    trim_line(line, ++number_ == 1);
    if (first_broken_byte(line) != std::string_view::npos) fail(number_, "not UTF-8; convert it");
    return true;
  }

  void read_row(conllu_sentence& s, std::string const& line) {
    began_ = true;
    auto const columns = detail::columns_of(line);
    if (columns.size() != 10)
      fail(number_, std::to_string(columns.size()) + " columns where CoNLL-U has 10, separated by tabs");
    int const before = static_cast<int>(s.words.size());
    auto const id = columns[0];
    if (auto const dash = id.find('-'); dash != std::string_view::npos) {
      int const first = detail::plain_number(id.substr(0, dash)), last = detail::plain_number(id.substr(dash + 1));
      if (first != before + 1 || last < first)
        fail(number_,
             "the range " + std::string(id) + " does not begin with the next word, " + std::to_string(before + 1));
      promised_ = std::max(promised_, last);
      return;
    }
    if (auto const dot = id.find('.'); dot != std::string_view::npos) {
      if (detail::plain_number(id.substr(0, dot)) != before || detail::plain_number(id.substr(dot + 1)) < 1)
        fail(number_, "the empty node " + std::string(id) + " does not follow word " + std::to_string(before));
      return;
    }
    if (detail::plain_number(id) != before + 1)
      fail(number_, "the ID is '" + std::string(id) + "' where word " + std::to_string(before + 1) + " is expected");
    if (columns[1].empty()) fail(number_, "a word without FORM; give it one, or _");
    conllu_word word{std::string(columns[1]), -1, {}};
    if (heads_ == conllu_heads::checked) {
      word.head = detail::plain_number(columns[6]);
      if (word.head < 0)
        fail(number_, "HEAD is '" + std::string(columns[6]) + "', not the number of a word, or 0 for the root");
      if (word.head == before + 1) fail(number_, "a word is its own head; give the root head 0");
      if (columns[7].empty() || columns[7] == "_") fail(number_, "a word without DEPREL");
      word.relation = columns[7];
    }
    s.words.push_back(std::move(word));
    s.places.push_back(s.lines.size());
    numbers_.push_back(number_);
  }

  void finish(conllu_sentence const& s) {
    began_ = false;
    int const n = static_cast<int>(s.words.size());
    if (n == 0) fail(number_, "a sentence without a word; remove its lines");
    if (promised_ > n)
      fail(numbers_.back(),
           "a range ends with word " + std::to_string(promised_) + ", and the sentence has " + std::to_string(n));
    if (heads_ == conllu_heads::checked) expect_tree(s, n);
  }

  void expect_tree(conllu_sentence const& s, int n) const {
    auto const head = [&](int i) { return s.words[static_cast<std::size_t>(i - 1)].head; };
    auto const line = [&](int i) { return numbers_[static_cast<std::size_t>(i - 1)]; };
    int root = 0;
    for (int i = 1; i <= n; ++i) {
      if (head(i) > n)
        fail(line(i), "HEAD is " + std::to_string(head(i)) + " in a sentence of " + std::to_string(n) + " words");
      if (head(i) != 0) continue;
      if (root != 0)
        fail(line(i),
             "a second root: the head of word " + std::to_string(root) + " is 0 already; a sentence has one root");
      root = i;
    }
    if (int const at = word_on_cycle(n, head); at != 0)
      fail(line(at), "the heads from word " + std::to_string(at) + " upward come back to it: no tree");
  }

  [[noreturn]] void fail(long line, std::string const& reason) const {
    throw data_error(called_ + ":" + std::to_string(line) + ": " + reason + "; docs/data.md has the format");
  }

  std::optional<gz_lines> lines_;  // if the reader reads a file
  std::istream* text_ = nullptr;   // if the reader reads a text
  std::string called_;
  conllu_heads heads_;
  long number_ = 0;            // the number of the last line read, from 1
  bool began_ = false;         // whether a row of this sentence was read
  std::vector<long> numbers_;  // for each word: the number of its line in the file
  int promised_ = 0;           // the last word of the current range
};

inline std::vector<conllu_sentence> read_conllu(std::string const& path, conllu_heads heads = conllu_heads::checked) {
  std::vector<conllu_sentence> all;
  conllu_reader reader(path, heads);
  for (conllu_sentence s; reader.next(s);) all.push_back(std::move(s));
  return all;
}

/// Reads all sentences of a text.  Messages use `called` as the name of the text.
inline std::vector<conllu_sentence> read_conllu(std::istream& text, std::string const& called,
                                                conllu_heads heads = conllu_heads::checked) {
  std::vector<conllu_sentence> all;
  conllu_reader reader(text, called, heads);
  for (conllu_sentence s; reader.next(s);) all.push_back(std::move(s));
  return all;
}

/// Returns a sentence of these words without heads.  The words must not contain tabs.
inline conllu_sentence conllu_of(std::vector<std::string> const& words) {
  conllu_sentence s;
  for (auto const& word : words) {
    s.places.push_back(s.lines.size());
    s.words.push_back({word, -1, {}});
    s.lines.push_back(std::to_string(s.words.size()) + "\t" + word + "\t_\t_\t_\t_\t_\t_\t_\t_");
  }
  return s;
}

/// Returns the parent of each word in the form of attached_token (batches/dependency_loader.hpp): the index in the
/// sentence, from 0.  The parent of a root is the root itself.  A parent of -1 means that no head was read.
inline std::vector<index_t> parents_of(conllu_sentence const& s) {
  std::vector<index_t> parents;
  for (auto const& word : s.words)
    parents.push_back(word.head == 0 ? static_cast<index_t>(parents.size()) : word.head < 0 ? -1 : word.head - 1);
  return parents;
}
/// Sets the heads from the parents, which have the form that parents_of() returns.  If there is not one parent for each
/// word, or if a parent is not a word, throws contract_violation and changes nothing.
inline void set_parents(conllu_sentence& s, std::span<index_t const> parents) {
  auto const n = static_cast<index_t>(s.words.size());
  expect_extent("set_parents", "parents", static_cast<index_t>(parents.size()), n);
  auto const bad = std::find_if(parents.begin(), parents.end(), [&](index_t p) { return p >= n; });
  TRIAD_EXPECTS(bad == parents.end(), "set_parents: the parent of word " + std::to_string(bad - parents.begin()) +
                                          " is " + std::to_string(*bad) + ", expected a word, 0 to " +
                                          std::to_string(n - 1) + ", or -1 for none");
  for (std::size_t i = 0; i < parents.size(); ++i)
    s.words[i].head = parents[i] == static_cast<index_t>(i) ? 0
                      : parents[i] < 0                      ? -1
                                                            : static_cast<int>(parents[i] + 1);
}

/// Returns the lines of the sentence, with the present heads and relations of its words, followed by an empty line.
/// All other columns, including DEPS, are as they were read.
inline std::string to_conllu(conllu_sentence const& s) {
  auto lines = s.lines;
  for (std::size_t i = 0; i < s.words.size(); ++i) {
    auto const& was = s.lines[s.places[i]];
    auto const columns = detail::columns_of(was);
    auto const& word = s.words[i];
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) line += '\t';
      if (c == 6)
        line += word.head < 0 ? "_" : std::to_string(word.head);
      else if (c == 7)
        line += word.relation.empty() ? "_" : word.relation;
      else
        line += columns[c];
    }
    lines[s.places[i]] = line;
  }
  std::string text;
  for (auto const& line : lines) text += line + '\n';
  return text + '\n';
}

/// Counts the words with correct heads and relations, including punctuation.  The words are those of the gold
/// tokenisation.  A relation is correct if the whole DEPREL is equal, including subtypes.  The evaluation of CoNLL 2018
/// compares only the part before `:`, so its scores are at least as high.
struct attachment_scores {
  std::int64_t words = 0, heads = 0, relations = 0;  // relations: correct relations of words whose head is correct too
  std::int64_t sentences = 0, exact = 0;             // exact: sentences in which every head and relation is correct

  void add(std::vector<conllu_word> const& gold, std::vector<conllu_word> const& found) {
    if (gold.size() != found.size()) throw data_error("a sentence and its parse have different words");
    std::int64_t correct = 0;
    for (std::size_t i = 0; i < gold.size(); ++i) {
      if (found[i].head != gold[i].head) continue;
      ++heads;
      correct += found[i].relation == gold[i].relation ? 1 : 0;
    }
    auto const n = static_cast<std::int64_t>(gold.size());
    words += n;
    relations += correct;
    ++sentences;
    exact += correct == n ? 1 : 0;
  }

  /// uas() and las() return the unlabelled and the labelled attachment score.  exact_match() returns the fraction of
  /// sentences whose whole labelled tree is correct.
  double uas() const { return part(heads, words); }
  double las() const { return part(relations, words); }
  double exact_match() const { return part(exact, sentences); }

 private:
  static double part(std::int64_t correct, std::int64_t all) {
    return all == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(all);
  }
};

}  // namespace triad::text
