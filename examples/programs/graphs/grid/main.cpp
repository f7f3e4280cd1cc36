// The program grid: a task in one file.  Each path on a grid has steps in two directions, such as north and east.  The
// task is to predict the direction from its first node to its last, such as north-east.
// SPDX-License-Identifier: Apache-2.0
#include "graphs/graphs.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::grid {
namespace {

/// Makes a path that never goes back.  The target is the direction from its first node to its last.
graphs::written_graph path(counter_random& random, int steps) {
  std::string const across = random.chance(1, 2) ? "left" : "right", along = random.chance(1, 2) ? "above" : "below";
  graphs::written_graph g{.nodes = steps + 1, .node_labels = {}, .pairs = {}, .query = {0, steps}, .target = {}};
  bool went_across = false, went_along = false;
  for (int i = 0; i < steps; ++i) {
    bool const is_across = random.chance(1, 2);
    (is_across ? went_across : went_along) = true;
    g.edge(i, is_across ? across : along, i + 1);
  }
  g.target = went_across && went_along ? across + "-" + along : went_across ? across : along;
  return g;
}

std::vector<graphs::written_graph> paths(int count, int shortest, int longest, std::uint64_t seed) {
  counter_random random(seed);
  std::vector<graphs::written_graph> all;
  for (int i = 0; i < count; ++i) all.push_back(path(random, shortest + i % (longest - shortest + 1)));
  return all;
}

/// Returns short paths for training and long paths for tests.
graphs::data_set data() {
  return graphs::data_of(paths(2000, 2, 4, 1), paths(200, 2, 4, 2),
                         {{"6", paths(200, 6, 6, 3)}, {"10", paths(200, 10, 10, 4)}});
}

}  // namespace
}  // namespace triad::programs::grid

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::grid;
  return run_program<graphs::own_options>(
      "grid", "Where does a path on a grid lead?", [](graphs::own_options& o) { return graphs::verbs_of(o, data); },
      argc, argv, "examples/programs/graphs/README.md");
}
