// Fuzzes the reader of labelled graphs in JSON lines. In every graph, pairs must consist of nodes of the graph, and
// every word must have a number in the vocabulary of the graphs.
// SPDX-License-Identifier: Apache-2.0
#include "graphs/read.cpp"
#include "reader.hpp"
#include "shared/data/data_folder.cpp"  // sources and not object files, so that libFuzzer sees their branches
#include "shared/data/json_lines.cpp"

namespace graphs = triad::programs::graphs;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  static fuzz::input_file file("graphs.jsonl");
  file.write(fuzz::text_of(data, size));
  fuzz::read_or_refuse(file.path(), [&] {
    auto const all = graphs::read_graphs(file.path(), true);
    graphs::vocabulary words;
    for (auto const& g : all) {
      for (auto const& [pair, word] : g.pairs) {
        fuzz::expect(pair.from >= 0 && pair.from < g.nodes && pair.to >= 0 && pair.to < g.nodes, "a pair is of nodes");
        words.edge_labels.add(word);
      }
      words.targets.add(g.target);
    }
    for (auto const& g : all) {
      auto const n = graphs::numbered(g, words);
      fuzz::expect(n.edges.size() == g.pairs.size() && words.target_name(n.target) == g.target, "words have numbers");
    }
  });
  return 0;
}
