// The program graphs, which predicts the relation of two nodes of a labelled graph.
// SPDX-License-Identifier: Apache-2.0
#include "graphs.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::graphs;
  return run_program<own_options>(
      "graphs", "What is one node of a labelled graph to another?  An Edge Transformer learns it from JSON lines.",
      [](own_options& o) { return verbs_of(o, [] { return read_training({}); }); }, argc, argv,
      "examples/programs/graphs/README.md");
}
