// dependencies: from sentences to their dependencies.
// SPDX-License-Identifier: Apache-2.0
#include "dependencies.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::dependencies;
  return run_program<own_options>(
      called_by(argc, argv, "dependencies", "parse"),
      "From a sentence to its dependencies: which word is whose head, and by which relation.  An Edge Transformer, "
      "or a Transformer with biaffine heads, learns it from CoNLL-U or JSON lines.",
      [](own_options& o) {
        auto verbs = verbs_of(o);
        verbs.push_back({"inspect", "Say what a file of sentences holds", [&o] { return inspect(o.file); }});
        return verbs;
      },
      argc, argv, "examples/programs/dependencies/README.md");
}
