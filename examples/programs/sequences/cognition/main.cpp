// cognition: from sentences to sentences whose compounds are new.
// SPDX-License-Identifier: Apache-2.0
#include "cognition.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::cognition;
  return run_program<options>(
      "cognition",
      "CoGnition and other tasks from sequence to sequence.  A Transformer whose layers read all earlier layers, or "
      "a plain one, learns to translate, and is tested on sentences that are new in their composition alone.",
      [](options& o) {
        auto verbs = sequences::verbs_of(o, [&o](bool needs_train, bool measures) {
          return measures ? program_of(o, needs_train) : sequences::program{data_of(o, needs_train)};
        });
        verbs.push_back({"generate", "Write generated commands and their actions", [&o] { return generate(o); }});
        return verbs;
      },
      argc, argv, "examples/programs/sequences/cognition/README.md");
}
