// Tests which queries of CFQ are equal up to the order of their conjuncts.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cfq/conjuncts.hpp"
#include "tests/catch.hpp"

namespace programs_cfq_conjuncts_tests {

namespace cfq = triad::programs::cfq;

using cfq::same_conjuncts;

TEST_CASE("conjuncts may be in any order, and must all be there as often") {
  std::string const query = "SELECT count ( * ) WHERE { ?x0 a person . FILTER ( M2 != ?x0 ) . ?x0 wrote M1 }";
  CHECK(same_conjuncts(query, query));
  CHECK(same_conjuncts(query, "SELECT count ( * ) WHERE { FILTER ( M2 != ?x0 ) . ?x0 wrote M1 . ?x0 a person }"));
  CHECK_FALSE(
      same_conjuncts(query, "SELECT DISTINCT ?x0 WHERE { ?x0 a person . FILTER ( M2 != ?x0 ) . ?x0 wrote M1 }"));
  CHECK_FALSE(same_conjuncts(query, "SELECT count ( * ) WHERE { ?x0 a person . ?x0 wrote M1 }"));
  CHECK_FALSE(same_conjuncts(query, "SELECT count ( * ) WHERE { ?x0 a person . ?x0 a person . ?x0 wrote M1 }"));
  CHECK_FALSE(same_conjuncts(query, "SELECT count ( * ) WHERE { ?x0 a person . FILTER ( M2 != ?x0 ) . M1 wrote ?x0 }"));
  CHECK_FALSE(same_conjuncts(query, query + " ."));
  CHECK_FALSE(same_conjuncts("S WHERE { a . a . b }", "S WHERE { a . b . b }"));
}

TEST_CASE("what is no query is right only where it is the same text") {
  CHECK(same_conjuncts("a . b", "a . b"));
  CHECK_FALSE(same_conjuncts("a . b", "b . a"));
  CHECK_FALSE(same_conjuncts("", "S WHERE { a }"));
  CHECK_FALSE(same_conjuncts("S WHERE { a . b", "S WHERE { b . a"));
  CHECK_FALSE(same_conjuncts("S WHERE { a { . b }", "S WHERE { b . a { }"));
  CHECK_FALSE(same_conjuncts("S WHERE { a } b }", "S WHERE { b } a }"));
  CHECK(same_conjuncts("S WHERE { a . }", "S WHERE { . a }"));
  CHECK_FALSE(same_conjuncts("S WHERE { a . }", "S WHERE { a }"));
}

}  // namespace programs_cfq_conjuncts_tests
