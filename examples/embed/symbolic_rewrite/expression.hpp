// Algebraic expressions: parsed from and written in infix notation, stored as trees.
// SPDX-License-Identifier: Apache-2.0
//
//   sum = product { + product | - product }      product = signed { * signed | / signed }
//   signed = - signed | power                    power = atom [ ^ signed ]          atom = NUMBER | NAME | ( sum )
//
// x - 2 * y is the tree ( - x ( * 2 y ) ).  The negation -x is a node with the label ~ and one child.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "triad/tree/s_expression.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace rewrite {

using triad::index_t;
using triad::symbol_tree;

/// The greatest depth of an expression: a sparse role stores a path in 64 bits, one bit for each level.
inline constexpr index_t deepest = 64;

namespace detail {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class reader {
 public:
  reader(std::string_view text, triad::text_position where) : text_(text), where_(std::move(where)) {}

  symbol_tree read() {
    auto whole = sum();
    (void)next();  // skips blanks
    if (at_ < text_.size()) fail("an operator or the end");
    return whole.tree;
  }

 private:
  struct part {
    symbol_tree tree;
    index_t depth;
  };

  part sum() {
    auto left = product();
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      ++at_;
      left = node(std::string(1, c), left, product());
    }
    return left;
  }
  part product() {
    auto left = with_sign();
    for (char c = next(); c == '*' || c == '/'; c = next()) {
      ++at_;
      left = node(std::string(1, c), left, with_sign());
    }
    return left;
  }
  part with_sign() {
    if (next() != '-') return power();
    ++at_;
    nesting inside(*this);
    return node("~", with_sign(), {symbol_tree(), 0});
  }
  part power() {
    auto base = atom();
    if (next() != '^') return base;
    ++at_;
    nesting inside(*this);
    return node("^", base, with_sign());
  }
  part atom() {
    char const c = next();
    if (c == '(') {
      ++at_;
      nesting inside(*this);
      auto within = sum();
      if (next() != ')') fail("')'");
      ++at_;
      return within;
    }
    auto const first = at_;
    if (is_digit(c)) {
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    } else if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    } else {
      fail("a number, a name, '-' or '('");
    }
    return {symbol_tree(std::string(text_.substr(first, at_ - first))), 1};
  }

  part node(std::string label, part const& left, part const& right) {
    index_t const depth = 1 + std::max(left.depth, right.depth);
    if (depth > deepest) too_deep();
    return {symbol_tree(std::move(label), {left.tree, right.tree}), depth};
  }

  /// Counts the subexpressions that are not yet complete.  A text with too deeply nested subexpressions gives an error
  /// message.
  struct nesting {
    explicit nesting(reader& of) : depth(of.open_) {
      if (++depth > 16 * deepest) of.too_deep();
    }
    nesting(nesting const&) = delete;
    ~nesting() { --depth; }
    index_t& depth;
  };

  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  [[noreturn]] void fail(std::string const& expected) const {
    stop("expected " + expected + ", found " +
         (at_ == text_.size()  ? "the end"
          : text_[at_] == '\0' ? "a zero byte"
                               : "'" + std::string(1, text_[at_]) + "'"));
  }
  [[noreturn]] void too_deep() const { stop("the expression is deeper than " + std::to_string(deepest) + " levels"); }
  [[noreturn]] void stop(std::string const& what) const { triad::fail_at(where_, static_cast<index_t>(at_), what); }

  std::string_view text_;
  triad::text_position where_;
  std::size_t at_ = 0;
  index_t open_ = 0;
};

/// Returns the precedence of a node's operator.  A leaf has the highest precedence.
inline int strength(symbol_tree const& tree, index_t at) {
  if (tree.is_leaf(at)) return 5;
  auto const& label = tree.label(at);
  return label == "^" ? 4 : label == "~" ? 3 : label == "*" || label == "/" ? 2 : 1;
}

inline std::string write(symbol_tree const& tree, index_t at) {
  auto const part = [&](index_t child_number, int least) {
    auto const child = tree.child(at, child_number);
    auto const text = write(tree, child);
    return strength(tree, child) < least ? "(" + text + ")" : text;
  };
  auto const& label = tree.label(at);
  int const own = strength(tree, at);
  if (own == 5) return label;
  if (own == 4) return part(0, 5) + "^" + part(1, 3);
  if (own == 3) return "-" + part(0, 3);
  return part(0, own) + " " + label + " " + part(1, own + 1);  // left-associative, so a - (b - c) keeps its parentheses
}

}  // namespace detail

/// Parses an expression.  If the text is not an expression, throws data_error with the column and what was expected
/// there.
inline symbol_tree parse(std::string_view text, triad::text_position where = {}) {
  return detail::reader(text, std::move(where)).read();
}

/// Returns the infix notation, with the fewest parentheses with which parse() returns the same tree.
inline std::string to_infix(symbol_tree const& tree) { return tree.empty() ? std::string() : detail::write(tree, 0); }

}  // namespace rewrite
