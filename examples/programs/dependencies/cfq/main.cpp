// The program cfq-dependencies, which predicts the dependencies of a question of CFQ.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"
#include "shared/cli/verbs.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  return run_program<cfq_dependencies::options>(
      "cfq-dependencies",
      "CFQ: from a question to its dependencies, in CoNLL-U.  An Edge Transformer, or a Transformer with biaffine "
      "heads, learns which word is whose head, and by which relation.",
      [](cfq_dependencies::options& o) { return dependencies::verbs_of(o); }, argc, argv,
      "examples/programs/cfq/README.md");
}
