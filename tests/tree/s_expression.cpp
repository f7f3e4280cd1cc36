// Tests S-expressions: a tree is unchanged after it is written and read, and errors have the position in the text.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/s_expression.hpp"

#include "tests/catch.hpp"
#include "triad/core/random.hpp"

namespace tree_s_expression_tests {

using namespace triad;
using triad::test::contains;

symbol_tree random_tree(random_stream& stream, index_t depth) {
  std::string const label(1, static_cast<char>('a' + stream.below(5)));
  std::vector<symbol_tree> children;
  if (depth > 1)
    for (auto count = stream.below(4); count > 0; --count) children.push_back(random_tree(stream, depth - 1));
  return symbol_tree(label, children);
}

TEST_CASE("a tree is written with one space between tokens, leaf children bare, the root alone in parentheses") {
  auto const leaf = [](char const* label) { return symbol_tree(label); };
  CHECK(to_text(symbol_tree("A", {leaf("B"), symbol_tree("C", {leaf("D")})})) == "( A B ( C D ) )");
  CHECK(to_text(leaf("A")) == "( A )");
  CHECK(to_text(symbol_tree()).empty());
  CHECK(to_text(symbol_tree("A", {symbol_tree(), leaf("B")})) == "( A B )");
}

TEST_CASE("what is written is read back, whatever the branching") {
  random_stream stream(1, 2);
  for (int trial = 0; trial < 200; ++trial) {
    auto const t = random_tree(stream, 1 + trial % 6);
    CAPTURE(to_text(t));
    CHECK(parse_tree(to_text(t), {}, 3) == t);
  }
}

TEST_CASE("a leaf may have parentheses, a root may be bare, spaces may be missing or many") {
  auto const t = parse_tree("( A B ( C D ) )");
  for (auto const* text : {"( A ( B ) ( C D ) )", "(A B(C D))", " ( A\tB\n ( C ( D ) ) )\r\n"})
    CHECK(parse_tree(text) == t);
  CHECK(parse_tree("A") == parse_tree("( A )"));
}

TEST_CASE("a malformed text is an error that names the column and what stands there") {
  struct wrong {
    char const *text, *message;
  };
  for (auto const& w :
       {wrong{"", "column 1: expected a tree, found nothing"}, wrong{"   ", "column 4: expected a tree, found nothing"},
        wrong{")", "column 1: expected a tree, found ')'"},
        wrong{"( )", "column 3: expected a label after '(', found ')'"},
        wrong{"(", "column 2: expected a label after '(', found the end"},
        wrong{"( ( A ) )", "column 3: expected a label after '(', found '('"},
        wrong{"( A B", "column 6: expected ')' after the children of 'A', found the end"},
        wrong{"( A ) B", "column 7: expected nothing after the tree, found 'B'"},
        wrong{"( A ) )", "column 7: expected nothing after the tree, found ')'"},
        wrong{"( A b ( c ) d )", "column 13: expected ')' after 2 children of 'A', found another child"}}) {
    CAPTURE(w.text);
    CHECK_THROWS_AS(parse_tree(w.text), data_error);
    CHECK_THROWS_WITH(parse_tree(w.text), std::string(w.message));
  }
}

TEST_CASE("a treebank's tree has any number of children, and maybe parentheses without a label around it") {
  auto const t = parse_tree("( S ( A b ) ( C d ) ( . . ) )", {}, 3);
  for (auto const* text : {"( (S (A b) (C d) (. .)) )", "((S (A b) (C d) (. .)))", "(S (A b) (C d) (. .))",
                           " (\n  (S (A b)\n (C d) (. .)) )\n"})
    CHECK(parse_treebank_tree(text) == t);
  CHECK(parse_treebank_tree("A") == parse_tree("A"));
  CHECK(parse_treebank_tree("((A))") == parse_tree("A"));
  std::string most;
  for (index_t c = 0; c < most_children; ++c) most += " x";
  CHECK(parse_treebank_tree("( (S" + most + ") )").branching() == most_children);
  CHECK_THROWS_WITH(parse_treebank_tree("( (S" + most + " x) )"), contains("after 64 children of 'S', found another"));
  struct wrong {
    char const *text, *message;
  };
  for (auto const& w :
       {wrong{"( (S a) (T b) )", "column 9: expected ')' after the only tree of an outer '(', found '('"},
        wrong{"( (S a) x )", "column 9: expected ')' after the only tree of an outer '(', found 'x'"},
        wrong{"( (S a)", "column 8: expected ')' after the only tree of an outer '(', found the end"},
        wrong{"( (S a) ) )", "column 11: expected nothing after the tree, found ')'"},
        wrong{"( ( ( S a ) ) )", "column 5: expected a label after '(', found '('"},
        wrong{"( (", "column 4: expected a label after '(', found the end"},
        wrong{"( )", "column 3: expected a label after '(', found ')'"},
        wrong{"( ( ) )", "column 5: expected a label after '(', found ')'"},
        wrong{"(S ( (A b) ) )", "column 6: expected a label after '(', found '('"},
        wrong{"", "column 1: expected a tree, found nothing"}}) {
    CAPTURE(w.text);
    CHECK_THROWS_AS(parse_treebank_tree(w.text), data_error);
    CHECK_THROWS_WITH(parse_treebank_tree(w.text), std::string(w.message));
  }
}

TEST_CASE("an error says file and line where they are known, and the column within the line") {
  CHECK_THROWS_WITH(parse_tree("( A", {"train.jsonl", 12, 15}), contains("train.jsonl:12: column 18: expected ')'"));
  CHECK_THROWS_WITH(parse_tree("( A", {{}, 12, 1}), contains("line 12: column 4: "));
}

TEST_CASE("any text is a tree, which is written and read back the same, or an error with a column within it") {
  random_stream stream(5, 6);
  int trees = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text;
    for (auto length = stream.below(14); length > 0; --length) text += "(( )) ab\t"[stream.below(9)];
    CAPTURE(text);
    symbol_tree t;
    try {
      t = parse_tree(text);
    } catch (data_error const& e) {
      std::string const message = e.what();
      REQUIRE(message.starts_with("column "));
      auto const column = std::stoul(message.substr(7));
      REQUIRE((column >= 1 && column <= text.size() + 1));
      continue;
    }
    ++trees;
    REQUIRE(t.size() > 0);
    REQUIRE(parse_tree(to_text(t)) == t);
  }
  CHECK(trees > 100);
}

TEST_CASE("a label that would be read as another tree is not written, and whatever is read can be") {
  for (std::string const label : {"", "a b", "(", "a)", "a\nb", "\t"}) {
    symbol_tree::builder made;
    made.open("S");
    made.open(label);
    made.close();
    made.close();
    CHECK_THROWS_WITH(to_text(made.finish()), test::contains("it would be read as another tree"));
  }
  for (std::string const text : {"( a\fb c )", "( S \v )"}) CHECK(to_text(parse_tree(text)) == text);
}

TEST_CASE("text nested without end takes no deep stack") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "( x ";
  CHECK_THROWS_WITH(parse_tree(text), contains("found the end"));
  for (int i = 0; i < 100'000; ++i) text += ")";
  auto const t = parse_tree(text);
  CHECK(t.depth() == 100'000);
  CHECK(parse_tree(to_text(t)) == t);
}

}  // namespace tree_s_expression_tests
