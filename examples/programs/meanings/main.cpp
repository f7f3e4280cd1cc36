// The program meanings: predicts labelled graphs of sentences.  You train it on your own data.
// SPDX-License-Identifier: Apache-2.0
#include "inspect.hpp"
#include "program.hpp"
#include "shared/cli/say.hpp"
#include "shared/cli/verbs.hpp"

namespace triad::programs::meanings {
namespace {

struct own_options : options {
  std::string file;  // inspect: the file to summarise

  void each(option_list& f) override {
    f("preset", &preset,
      "cfq-queries: for CFQ's questions, with --head predicates, --lists, --implied-labels; cogs, slog: for their "
      "logical forms, with --word-labels; small: some thousand sentences in a few minutes; smoke: a few seconds, to "
      "try a data set; it learns nothing")
        .one_of({"cfq-queries", "cogs", "slog", "small", "smoke"})
        .free();
    options::each(f);
    f("file", &file, "A file of sentences").only({"inspect"}).positional().required().existing_file();
  }
};

}  // namespace
}  // namespace triad::programs::meanings

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::meanings;
  return run_program<own_options>(
      "meanings",
      "From a sentence to a labelled graph of its tokens and of slots: queries, logical forms, semantic dependencies.  "
      "An Edge Transformer learns it from JSON lines, CFQ's queries, enhanced or semantic dependencies, or COGS' and "
      "SLOG's logical forms.",
      [](own_options& o) {
        auto verbs = verbs_of(o);
        verbs.push_back(
            {"inspect", "Say what a file of sentences holds", [&o] { return say("{}", inspected(o.file)), 0; }});
        return verbs;
      },
      argc, argv, "examples/programs/meanings/README.md");
}
