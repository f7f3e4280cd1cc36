// Tests counts and matches of n-grams.  Compares them with values that were computed by hand.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/ngrams.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace io_ngrams_tests {

using namespace triad::text;
using list = std::vector<std::string>;

TEST_CASE("n-grams are counted, and tokens keep their bounds") {
  CHECK(ngrams({"a", "b", "a", "b"}, 1) == ngram_counts{{"a ", 2}, {"b ", 2}});
  CHECK(ngrams({"a", "b", "a", "b"}, 2) == ngram_counts{{"a b ", 2}, {"b a ", 1}});
  CHECK(ngrams({"ab", "c"}, 2) != ngrams({"a", "bc"}, 2));
  CHECK(ngrams({"a", "b"}, 3).empty());
  CHECK(ngrams({}, 1).empty());
}

TEST_CASE("an n-gram is matched at most as often as the reference has it") {
  CHECK(matched_ngrams(ngrams({"a", "a", "a", "b"}, 1), ngrams({"a", "a", "c"}, 1)) == 2);
  CHECK(matched_ngrams(ngrams({"a"}, 1), ngrams({"a", "a", "c"}, 1)) == 1);
  CHECK(matched_ngrams(ngrams({"a"}, 1), {}) == 0);
}

}  // namespace io_ngrams_tests
