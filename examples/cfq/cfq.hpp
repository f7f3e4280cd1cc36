// cfq: from a question to a query, or (parse/) to its dependencies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../pairs/program.hpp"
#include "../pairs/score.hpp"
#include "make_data.hpp"
#include "options.hpp"
#include "parse/program.hpp"
#include "task_of.hpp"

namespace cfq {

inline seq2seq::program program_of(options const& o, bool needs_train) {
  seq2seq::program p{data_of(o, needs_train)};
  if (!needs_train)
    p.expect_words = [raw = raw_token(p.data)](seq2seq::vocabulary const& words) {
      expect_same_form(raw, words.target.words());
    };
  p.figures = [](seq2seq::test_part const& part, std::vector<std::string> const& found) {
    auto const same = seq2seq::right_ones(same_conjuncts, part.pairs, found);
    return std::vector<seq2seq::figure>{{"up to the order of conjuncts", seq2seq::total(same).percent()}};
  };
  return p;
}

struct task {
  static int main(int argc, char** argv) {
    if (task_of({argv + 1, argv + argc}) == "parse") return parse_main(argc, argv);
    return triad::apps::run_program<options>(
        "cfq",
        "CFQ: from a question to the query that answers it.  An Edge Transformer, a Transformer whose layers read all "
        "earlier layers, or a plain one, learns it, and is tested on questions whose parts are known and whose "
        "compounds are not.  With --task parse: from a question to its dependencies.",
        [](options& o) {
          auto all = seq2seq::verbs_of(o, [&o](bool needs_train, bool) { return program_of(o, needs_train); });
          all.push_back({"generate", "Write generated questions: queries, dependencies and the rules that derive them",
                         [&o] { return generate(o.made); }});
          all.push_back({"split",
                         "Take a corpus apart so that parts have the same rules and compounds as different as can be",
                         [&o] { return split(o.made); }});
          return all;
        },
        argc, argv);
  }
};

}  // namespace cfq
