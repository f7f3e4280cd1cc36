// grid: where does a path on a grid lead?
// SPDX-License-Identifier: Apache-2.0
#include "grid.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::grid;
  return run_program<graphs::own_options>(
      "grid", "Where does a path on a grid lead?", [](graphs::own_options& o) { return graphs::verbs_of(o, data); },
      argc, argv, "examples/programs/graphs/README.md");
}
