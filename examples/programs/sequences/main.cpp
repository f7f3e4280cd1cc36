// The program sequences, which translates sequences into sequences.
// SPDX-License-Identifier: Apache-2.0
#include "sequences.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::sequences;
  return run_program<own_options>(
      called_by(argc, argv, "sequences", "pairs"),
      "From sequence to sequence.  A Transformer whose layers read all earlier layers, a plain one, or an Edge "
      "Transformer learns it from JSON lines.",
      [](own_options& o) {
        auto verbs = verbs_of(o, [&o](bool needs_train, bool) { return program_of(o, needs_train); });
        verbs.push_back({"inspect", "Say what a file of pairs holds", [&o] { return inspect(o.file); }});
        return verbs;
      },
      argc, argv, "examples/programs/sequences/README.md");
}
