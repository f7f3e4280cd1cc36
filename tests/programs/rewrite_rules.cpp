// Tests the parts of symbolic-rewrite: an expression is unchanged after it is written and read, and every rule can be
// applied to tensors.
// SPDX-License-Identifier: Apache-2.0
#include "../../examples/embed/symbolic_rewrite/rewriter.hpp"
#include "tests/catch.hpp"
#include "triad/core/random.hpp"

namespace programs_rewrite_rules_tests {

using rewrite::index_t;
using rewrite::symbol_tree;
using triad::test::contains;

symbol_tree random_expression(triad::random_stream& stream, index_t depth) {
  auto const kind = depth == 1 ? 0 : stream.below(8);
  if (kind < 2) return symbol_tree(std::string(1, "xyz012"[stream.below(6)]));
  if (kind == 2) return symbol_tree("~", {random_expression(stream, depth - 1)});
  return symbol_tree(std::string(1, "+-*/^"[kind - 3]),
                     {random_expression(stream, depth - 1), random_expression(stream, depth - 1)});
}

TEST_CASE("an expression that is written reads back as the same tree") {
  triad::random_stream stream(1, 1);
  for (int trial = 0; trial < 300; ++trial) {
    auto const e = random_expression(stream, 1 + trial % 7);
    CAPTURE(rewrite::to_infix(e), to_text(e));
    CHECK(rewrite::parse(rewrite::to_infix(e)) == e);
  }
}

TEST_CASE("a zero byte is no end") {
  CHECK_THROWS_WITH(rewrite::parse(std::string_view("x + 0\0 * 7", 10)),
                    contains("expected an operator or the end, found a zero byte"));
}

TEST_CASE("operators bind as at school") {
  struct row {
    char const *infix, *tree;
  };
  for (auto const& r :
       {row{"x - y - z", "( - ( - x y ) z )"}, row{"x + y * z", "( + x ( * y z ) )"}, row{"x^y^z", "( ^ x ( ^ y z ) )"},
        row{"-x^2", "( ~ ( ^ x 2 ) )"}, row{"-x * y", "( * ( ~ x ) y )"}, row{"2^-x", "( ^ 2 ( ~ x ) )"},
        row{"x / (y / z)", "( / x ( / y z ) )"}})
    CHECK(to_text(rewrite::parse(r.infix)) == r.tree);
}

/// Returns the left side of a rule in which every variable is replaced by an expression.
symbol_tree filled(symbol_tree const& pattern, index_t at, symbol_tree (*value)(std::string const&)) {
  if (at == triad::no_node) return symbol_tree();
  if (rewrite::is_variable(pattern.label(at))) return value(pattern.label(at));
  return symbol_tree(pattern.label(at),
                     {filled(pattern, pattern.child(at, 0), value), filled(pattern, pattern.child(at, 1), value)});
}
symbol_tree different(std::string const& name) { return rewrite::parse("p * (" + name + " - q)"); }

template <class A>
void try_rules(A const& algebra, triad::vocabulary const& words, std::vector<double> const& table) {
  for (auto const& text : rewrite::school_rules()) {
    CAPTURE(text);
    auto const rule = rewrite::parse_rule(text);
    rewrite::rewriter<A> const alone(
        algebra, words, triad::tensor<double const, triad::dyn, triad::dyn>(table.data(), words.size(), words.size()),
        {rule});
    auto const step = alone.once(alone.encode(filled(rule.left, 0, different)));
    REQUIRE(step);
    CHECK(alone.decode(step->result) == filled(rule.right, 0, different));
    CHECK_FALSE(alone.once(alone.encode(rewrite::parse("p * (q - p)"))));
    CHECK_FALSE(alone.once(alone.encode(rewrite::parse("p"))));
  }
}

TEST_CASE("every rule turns its left side into its right side, in every form") {
  triad::vocabulary words;
  for (auto const& text : rewrite::school_rules()) {
    auto const rule = rewrite::parse_rule(text);
    words.insert(rule.left);
    words.insert(rule.right);
  }
  words.insert(rewrite::parse("p * q - p"));
  index_t const labels = words.size();
  std::vector<double> table(static_cast<std::size_t>(labels * labels));
  triad::one_hot_fillers(triad::make_matrix(table.data(), labels, labels, labels));
  try_rules(triad::sparse_algebra<double>(2, 0, labels), words, table);
  try_rules(triad::gather_algebra<double>({2, 7}, labels), words, table);
}

TEST_CASE("a name that stands twice matches the same expression only") {
  triad::vocabulary words;
  words.insert(rewrite::parse("a + b - 0 - x * y * z"));
  index_t const labels = words.size();
  std::vector<double> table(static_cast<std::size_t>(labels * labels));
  triad::one_hot_fillers(triad::make_matrix(table.data(), labels, labels, labels));
  using algebra = triad::sparse_algebra<double>;
  algebra const a(2, 10, labels);
  rewrite::rewriter<algebra> const r(a, words,
                                     triad::tensor<double const, triad::dyn, triad::dyn>(table.data(), labels, labels),
                                     {rewrite::parse_rule("a - a = 0")});
  CHECK(r.once(r.encode(rewrite::parse("x * y - x * y"))));
  CHECK_FALSE(r.once(r.encode(rewrite::parse("x * y - x * z"))));
  CHECK_FALSE(r.once(r.encode(rewrite::parse("x * y - x"))));
  CHECK_FALSE(r.once(r.encode(rewrite::parse("x - x * y"))));
}

}  // namespace programs_rewrite_rules_tests
