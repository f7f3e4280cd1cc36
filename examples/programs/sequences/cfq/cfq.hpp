// cfq: from a question to a query, or (parse/) to its dependencies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dependencies/cfq/program.hpp"
#include "make_data.hpp"
#include "options.hpp"
#include "sequences/program.hpp"
#include "sequences/score.hpp"
#include "task_of.hpp"

namespace cfq {

inline sequences::program program_of(options const& o, bool needs_train) {
  sequences::program p{data_of(o, needs_train)};
  if (!needs_train)
    p.expect_words = [raw = raw_token(p.data)](sequences::vocabulary const& words) {
      expect_same_form(raw, words.target.words());
    };
  p.figures = [](sequences::test_part const& part, std::vector<std::string> const& found) {
    auto const same = sequences::right_ones(same_conjuncts, part.pairs, found);
    return std::vector<sequences::figure>{{"up to the order of conjuncts", sequences::total(same).percent()}};
  };
  return p;
}

struct task {
  static int main(int argc, char** argv) {
    if (task_of({argv + 1, argv + argc}) == "parse") return parse_main(argc, argv);
    return triad::programs::run_program<options>(
        "cfq",
        "CFQ: from a question to the query that answers it.  An Edge Transformer, a Transformer whose layers read all "
        "earlier layers, or a plain one, learns it, and is tested on questions whose parts are known and whose "
        "compounds are not.  With --task parse: from a question to its dependencies.",
        [](options& o) {
          auto all = sequences::verbs_of(o, [&o](bool needs_train, bool) { return program_of(o, needs_train); });
          all.push_back({"generate", "Write generated questions: queries, dependencies and the rules that derive them",
                         [&o] { return generate(o.made); }});
          all.push_back({"split",
                         "Take a corpus apart so that parts have the same rules and compounds as different as can be",
                         [&o] { return split(o.made); }});
          return all;
        },
        argc, argv, "examples/programs/sequences/cfq/README.md");
  }
};

}  // namespace cfq
