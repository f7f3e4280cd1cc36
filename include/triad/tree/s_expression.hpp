// Reads and writes trees of symbols as text: ( A B ( C D ) ).
// SPDX-License-Identifier: Apache-2.0
//
//   tree  = ( LABEL child ... )  |  LABEL            LABEL: any characters but spaces and parentheses
//   child = tree                                     a single child has number 0: it is the left child
//
// The text that is written has one space between tokens.  A node with children is written as ( label children ), a leaf
// below the root as its label, and a root without children as ( label ).  The empty tree has no text.  Unused child
// numbers are not written, so a right child without a left sibling becomes a left child when the text is read again.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// The place of a text in a file, for error messages.  Columns count bytes, from 1.
struct text_position {
  std::string file = {};
  index_t line = 0;
  index_t column = 1;
};

/// Throws data_error with the message `what` and the place that is `offset` bytes after `where`.
[[noreturn]] inline void fail_at(text_position const& where, index_t offset, std::string const& what) {
  std::string message = where.file;
  if (where.line > 0) message += (message.empty() ? "line " : ":") + std::to_string(where.line);
  if (!message.empty()) message += ": ";
  throw data_error(message + "column " + std::to_string(where.column + offset) + ": " + what);
}

namespace detail {
/// The characters that a label must not contain: white space and parentheses.
inline constexpr char const* no_label_has = "() \t\n\r";

class tree_reader {
 public:
  tree_reader(std::string_view text, text_position const& where, index_t branching, bool of_treebank = false)
      : text_(text), where_(where), branching_(branching), of_treebank_(of_treebank) {}

  symbol_tree read() {
    for (skip_spaces(); at_ < text_.size(); skip_spaces()) {
      if (ended_ && outer_ && text_[at_] == ')') {
        outer_ = false;
        ++at_;
        continue;
      }
      if (ended_ && outer_) fail(at_, "expected ')' after the only tree of an outer '(', found '" + token() + "'");
      if (ended_) fail(at_, "expected nothing after the tree, found '" + token() + "'");
      if (begins_outer()) {
        outer_ = true;
        ++at_;
        continue;
      }
      if (text_[at_] == '(')
        begin_node();
      else if (text_[at_] == ')')
        end_node();
      else
        leaf();
      ended_ = made_.level() == 0;
    }
    if (!ended_ && made_.level() == 0) fail(text_.size(), "expected a tree, found nothing");
    if (ended_ && outer_) fail(text_.size(), "expected ')' after the only tree of an outer '(', found the end");
    if (!ended_) fail(text_.size(), "expected ')' after the children of '" + made_.label() + "', found the end");
    return made_.finish();
  }

 private:
  static bool is_space(char c) { return c != '(' && c != ')' && ends_label(c); }
  static bool ends_label(char c) { return std::string_view(no_label_has).find(c) != std::string_view::npos; }
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  /// The next token, as error messages quote it.
  std::string token() const {
    if (text_[at_] == '(' || text_[at_] == ')') return std::string(1, text_[at_]);
    auto end = at_;
    while (end < text_.size() && !ends_label(text_[end])) ++end;
    return std::string(text_.substr(at_, end - at_));
  }
  /// Whether the next token is the first opening parenthesis of the text and has no label after it.
  bool begins_outer() const {
    if (!of_treebank_ || outer_ || made_.level() > 0 || text_[at_] != '(') return false;
    auto next = at_ + 1;
    while (next < text_.size() && is_space(text_[next])) ++next;
    return next < text_.size() && text_[next] == '(';
  }
  void begin_node() {
    auto const parenthesis = at_++;
    skip_spaces();
    if (at_ == text_.size() || text_[at_] == '(' || text_[at_] == ')')
      fail(at_, "expected a label after '(', found " + (at_ == text_.size() ? "the end" : "'" + token() + "'"));
    open(parenthesis);
  }
  void end_node() {
    if (made_.level() == 0) fail(at_, "expected a tree, found ')'");
    made_.close();
    ++at_;
  }
  void leaf() {
    open(at_);
    made_.close();
  }
  void open(std::size_t begin) {
    if (made_.level() > 0 && made_.next_child() == branching_)
      fail(begin, "expected ')' after " + std::to_string(branching_) + " children of '" + made_.label() +
                      "', found another child");
    auto label = token();
    at_ += label.size();
    made_.open(std::move(label));
  }
  [[noreturn]] void fail(std::size_t at, std::string const& what) const {
    fail_at(where_, static_cast<index_t>(at), what);
  }

  std::string_view text_;
  text_position const& where_;
  index_t branching_;
  bool of_treebank_;
  bool outer_ = false;  // whether the outer parenthesis, which has no label, is open
  symbol_tree::builder made_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace detail

/// Reads one tree with at most `branching` children for each node.  Spaces around parentheses are optional.  Throws
/// data_error with the file, line and column if the text is not such a tree.
inline symbol_tree parse_tree(std::string_view text, text_position const& where = {}, index_t branching = 2) {
  return detail::tree_reader(text, where, branching).read();
}

/// The largest number of children of a node that parse_treebank_tree() accepts.  If a node had more children,
/// binarise() would make the tree deeper than the 64 levels that a path code can hold.
inline constexpr index_t most_children = 64;

/// Reads a tree of a treebank.  Each node has at most most_children children.  Parentheses without a label may surround
/// the tree: ( (S (NP ...) (VP ...) (. .)) ).  binarise() turns the result into a binary tree.
inline symbol_tree parse_treebank_tree(std::string_view text, text_position const& where = {}) {
  return detail::tree_reader(text, where, most_children, true).read();
}

/// Returns the tree as text.  Throws contract_violation if a label is empty or contains a character of no_label_has.
inline std::string to_text(symbol_tree const& tree) {
  std::string text;
  std::vector<index_t> ends;  // for each open node, the number of the first node after its subtree
  auto const put = [&](std::string_view token) {
    if (!text.empty()) text += ' ';
    text += token;
  };
  auto const close_before = [&](index_t at) {
    for (; !ends.empty() && ends.back() <= at; ends.pop_back()) put(")");
  };
  for (index_t at = 0; at < tree.size(); ++at) {
    close_before(at);
    bool const bare = at > 0 && tree.is_leaf(at);
    if (!bare) {
      put("(");
      ends.push_back(at + tree[at].size);
    }
    auto const& label = tree.label(at);
    TRIAD_EXPECTS(!label.empty() && label.find_first_of(detail::no_label_has) == std::string::npos,
                  "to_text: the label '" + label +
                      "', expected one that is not empty and has neither white space nor a parenthesis: it would be "
                      "read as another tree");
    put(label);
  }
  close_before(tree.size());
  return text;
}

}  // namespace triad
