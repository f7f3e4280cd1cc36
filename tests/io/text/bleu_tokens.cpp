// Tests how BLEU cuts lines into tokens. The expected tokens were found by hand.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/bleu_tokens.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace io_bleu_tokens_tests {

using namespace triad::text;
using list = std::vector<std::string>;

TEST_CASE("the tokens of BLEU are those of sacreBLEU") {
  struct example {
    bleu_tokens how;
    char const* line;
    list tokens;
  };
  using enum bleu_tokens;
  for (auto const& e : {
           example{none, " Hello,  world. ", {"Hello,", "world."}},
           example{bleu_tokens::characters, "ab 狗.", {"a", "b", "狗", "."}},
           example{mteval_13a, "Hello, world.", {"Hello", ",", "world", "."}},
           example{mteval_13a, "It's 3.5 or 1,000.", {"It's", "3.5", "or", "1,000", "."}},
           example{mteval_13a,
                   "a well-known 1990-1995 (&quot;x&quot;) &amp; &lt;b&gt;",
                   {"a", "well-known", "1990", "-", "1995", "(", "\"", "x", "\"", ")", "&", "<", "b", ">"}},
           example{mteval_13a, "wait... what<skipped>?", {"wait", ".", ".", ".", "what", "?"}},
           example{mteval_13a, "3.", {"3", "."}},
           example{chinese, "3.", {"3."}},  // only 13a appends a space to a line
           example{chinese, "我有3.5元, ok.", {"我", "有", "3.5", "元", ",", "ok", "."}},
           example{chinese, "他说：“是，ABC公司。”", {"他", "说", "：", "“", "是", "，", "ABC", "公", "司", "。", "”"}},
           example{chinese, "&amp;", {"&", "amp", ";"}},
           example{chinese, "𠀀𠀁", {"𠀀𠀁"}},  // beyond U+FFFF
       }) {
    CAPTURE(e.line, name(e.how));
    CHECK(tokenize(e.line, e.how) == e.tokens);
    CHECK(tokenize("", e.how).empty());
  }
}

}  // namespace io_bleu_tokens_tests
