// The rules of simplification, as text. A name stands for any expression. If a name occurs twice in a rule, both
// occurrences stand for the same expression.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "expression.hpp"
#include "triad/core/errors.hpp"

namespace rewrite {

/// The rules assume that quotients and powers are defined. For example, a / a = 1 does not hold for a = 0.
inline std::vector<std::string> const& school_rules() {
  static std::vector<std::string> const rules{
      "a + 0 = a",
      "0 + a = a",
      "a - 0 = a",
      "0 - a = -a",
      "a - a = 0",
      "a * 1 = a",
      "1 * a = a",
      "a * 0 = 0",
      "0 * a = 0",
      "a / 1 = a",
      "0 / a = 0",
      "a / a = 1",
      "a ^ 1 = a",
      "a ^ 0 = 1",
      "1 ^ a = 1",
      "-0 = 0",
      "--a = a",
      "a + -b = a - b",
      "-a + b = b - a",
      "a - -b = a + b",
      "-a * -b = a * b",
      "a + b - b = a",
      "a - b + b = a",
      "a * b / b = a",
      "a / b * b = a",
      "a + a = 2 * a",
      "a * a = a ^ 2",
      "a * b + a * c = a * (b + c)",
      "b * a + c * a = (b + c) * a",
      "a * b - a * c = a * (b - c)",
      "b * a - c * a = (b - c) * a",
      "a ^ b * a ^ c = a ^ (b + c)",
      "(a ^ b) ^ c = a ^ (b * c)",
  };
  return rules;
}

struct rule {
  std::string text;
  symbol_tree left, right;
};

/// Returns true if the label is a name, which stands for any expression.  Numbers and operators match only themselves.
inline bool is_variable(std::string const& label) { return detail::is_letter(label.front()); }

/// Throws data_error with the column if the text is not a rule.
inline rule parse_rule(std::string const& text) {
  std::string const where = "rule '" + text + "'";
  auto const equals = text.find('=');
  if (equals == std::string::npos) throw triad::data_error(where + ": expected LEFT = RIGHT, found no '='");
  auto const part = [&](std::size_t first, std::size_t count) {
    return parse(std::string_view(text).substr(first, count), {where, 0, static_cast<index_t>(first) + 1});
  };
  rule const read{text, part(0, equals), part(equals + 1, std::string::npos)};
  if (is_variable(read.left.label()))
    throw triad::data_error(where + ": the left side is one name and would match everything");
  for (auto const& n : read.right.nodes()) {
    bool known = !is_variable(n.label);
    for (auto const& m : read.left.nodes()) known = known || m.label == n.label;
    if (!known) throw triad::data_error(where + ": " + n.label + " is not on the left side");
  }
  return read;
}

}  // namespace rewrite
