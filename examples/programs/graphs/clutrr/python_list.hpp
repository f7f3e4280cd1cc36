// Reads the Python lists of pairs and of words in the CSV fields of the published CLUTRR files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "graph.hpp"
#include "shared/data/csv.hpp"

namespace triad::programs::clutrr {

/// A word, and the position in its field where the word begins.
struct placed_word {
  std::string text;
  std::size_t offset;
};

/// A pair of people, and the position in its field where the pair begins.
struct placed_pair {
  node_pair people;
  std::size_t offset;
};

/// Reads one field of the current row from left to right.  Every error calls csv_file::fail.
class python_list {
 public:
  static constexpr int most_people = 512;  // a person's number is smaller; memory grows with its cube

  python_list(csv_file const& file, std::size_t column) : file_(file), column_(column), text_(file[column]) {}

  /// Reads "[(0, 1), (1, 2)]".
  std::vector<placed_pair> pairs() {
    std::vector<placed_pair> result;
    each_item([&] { result.push_back(pair()); });
    return result;
  }

  /// Reads "['wife', 'daughter']".
  std::vector<placed_word> words() {
    std::vector<placed_word> result;
    each_item([&] { result.push_back(word()); });
    return result;
  }

  /// Reads "(0, 2)", which must be the whole field.
  node_pair only_pair() {
    auto const result = pair();
    end();
    return result.people;
  }

 private:
  template <class Read>
  void each_item(Read read) {
    expect('[', "a Python list, such as [(0, 1), (1, 2)] or ['wife', 'daughter']");
    while (!accept(']')) {
      read();
      if (accept(']')) break;
      expect(',', "',' or ']' after an item of the list");
    }
    end();
  }

  placed_pair pair() {
    expect('(', "a pair of people, such as (0, 1)");
    std::size_t const offset = at_ - 1;
    int const from = person();
    expect(',', "',' and the second person of the pair");
    int const to = person();
    expect(')', "')' after the second person of the pair");
    return {{from, to}, offset};
  }

  int person() {
    skip_spaces();
    int value = 0;
    char const* const begin = text_.data() + at_;
    auto const [rest, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) wrong("a person's number");
    if (error != std::errc() || value < 0 || value >= most_people)
      fail("person number " + shown(std::string_view(begin, static_cast<std::size_t>(rest - begin))) +
               " is out of range",
           "people are numbered from 0 to at most " + std::to_string(most_people - 1));
    at_ += static_cast<std::size_t>(rest - begin);
    return value;
  }

  placed_word word() {
    skip_spaces();
    placed_word result{{}, at_};
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) wrong("a quoted word, such as 'wife'");
    char const quote = text_[at_++];
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\') {
        if (++at_ == text_.size()) break;
        if (text_[at_] != '\\' && text_[at_] != '\'' && text_[at_] != '"')
          fail("unknown escape \\" + shown(text_.substr(at_, 1)), R"(only \\, \' and \" are known)");
      }
      result.text += text_[at_];
    }
    if (at_ == text_.size()) {
      at_ = result.offset;
      fail("the quote that opens here is never closed", "close it");
    }
    ++at_;
    if (result.text.empty()) fail("the word is empty", "name the relation");
    return result;
  }

  void end() {
    skip_spaces();
    if (at_ != text_.size()) wrong("the end of the field");
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c, char const* what) {
    if (!accept(c)) wrong(what);
  }

  static std::string shown(std::string_view text) { return csv_file::shortened(text, 20); }

  [[noreturn]] void wrong(char const* expected) const {
    fail(at_ == text_.size() ? "the field ends too early" : "found \"" + shown(text_.substr(at_)) + '"',
         std::string("expected ") + expected);
  }

  [[noreturn]] void fail(std::string const& reason, std::string const& advice) const {
    file_.fail(column_, at_, reason, advice);
  }

  csv_file const& file_;
  std::size_t column_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace triad::programs::clutrr
