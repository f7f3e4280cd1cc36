// Tests vocabularies: labels have numbers in the order of their first appearance, and errors name the label.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/vocabulary.hpp"

#include "tests/catch.hpp"
#include "triad/tree/s_expression.hpp"

namespace tree_vocabulary_tests {

using namespace triad;
using triad::test::contains;

TEST_CASE("labels are numbered by first appearance in pre-order, from 1") {
  vocabulary words;
  words.insert(parse_tree("( S ( VP V NP ) NP )"));
  words.insert(parse_tree("( A ( S V ) )"));
  CHECK(words.labels() == std::vector<std::string>{"<empty>", "S", "VP", "V", "NP", "A"});
  CHECK(words.number("NP") == 4);
  CHECK(words.label(4) == "NP");
  CHECK((words.has("VP") && !words.has("X")));
}

TEST_CASE("numbering a tree and naming the numbers gives the tree") {
  vocabulary words;
  auto const t = parse_tree("( S ( VP V NP ) NP )");
  words.insert(t);
  CHECK(words.number(t) ==
        numbered_tree(1, {numbered_tree(2, {numbered_tree(3), numbered_tree(4)}), numbered_tree(4)}));
  CHECK(words.label(words.number(t)) == t);
}

TEST_CASE("a label that is not in the vocabulary is an error that names it") {
  vocabulary words;
  words.insert("A");
  CHECK_THROWS_WITH(words.number("B"), std::string("'B' is not one of the 1 labels of the vocabulary"));
  CHECK_THROWS_AS(words.number(parse_tree("( A C )")), data_error);
  CHECK_THROWS_AS(words.number("<empty>"), data_error);
  CHECK_THROWS_AS(words.label(7), contract_violation);
}

TEST_CASE("a list that was saved makes the same vocabulary, and a wrong one is refused") {
  vocabulary words;
  words.insert(parse_tree("( S A B )"));
  CHECK(vocabulary(words.labels()).number("B") == 3);
  CHECK_THROWS_WITH(vocabulary({"A"}), contains("expected '<empty>' as the first label, found 'A'"));
  CHECK_THROWS_WITH(vocabulary(std::vector<std::string>()), contains("found no label"));
  CHECK_THROWS_WITH(vocabulary({"<empty>", "A", "A"}), contains("found 'A' twice"));
}

}  // namespace tree_vocabulary_tests
