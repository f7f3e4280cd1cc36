// The program cfq. It makes data like CFQ's, and has the tasks of the programs cfq-sequences and cfq-dependencies.
// SPDX-License-Identifier: Apache-2.0
#include "dependencies/cfq/options.hpp"
#include "make_data.hpp"
#include "sequences/cfq/data.hpp"
#include "shared/cli/verbs.hpp"
#include "task_of.hpp"

namespace triad::programs::cfq {
namespace {

constexpr auto page = "examples/programs/cfq/README.md";

/// The options for translating questions to queries, and for the verbs that make data.
struct query_options : cfq_sequences::options {
  making made;  // generate, split

  query_options() { one_task = false; }
  void each(option_list& f) override {
    cfq_sequences::options::each(f);
    made.each(f);
  }
};
struct parse_options : cfq_dependencies::options {
  parse_options() { one_task = false; }
};

int parse(int argc, char** argv) {
  return run_program<parse_options>(
      "cfq",
      "CFQ, --task parse: from a question to its dependencies, in CoNLL-U.  An Edge Transformer, or a Transformer with "
      "biaffine heads, learns which word is whose head, and by which relation.",
      [](parse_options& o) { return dependencies::verbs_of(o); }, argc, argv, page);
}

int query(int argc, char** argv) {
  return run_program<query_options>(
      "cfq",
      "CFQ: from a question to the query that answers it.  An Edge Transformer, a Transformer whose layers read all "
      "earlier layers, or a plain one, learns it, and is tested on questions whose parts are known and whose "
      "compounds are not.  With --task parse: from a question to its dependencies.",
      [](query_options& o) {
        auto all = cfq_sequences::verbs_of(o);
        all.push_back({"generate", "Write generated questions: queries, dependencies and the rules that derive them",
                       [&o] { return generate(o.made); }});
        all.push_back({"split",
                       "Take a corpus apart so that parts have the same rules and compounds as different as can be",
                       [&o] { return split(o.made); }});
        return all;
      },
      argc, argv, page);
}

}  // namespace
}  // namespace triad::programs::cfq

// The code of both tasks is linked into this program.
int main(int argc, char** argv) {
  using namespace triad::programs;
  return cfq::task_of({argv + 1, argv + argc}) == "parse" ? cfq::parse(argc, argv) : cfq::query(argc, argv);
}
