// clutrr generate: chains as CSV files in the published format.
// SPDX-License-Identifier: Apache-2.0
#include "generate.hpp"

#include <cstdio>

#include "../common/run_folder.hpp"
#include "commands.hpp"
#include "data.hpp"

namespace clutrr {

int generate(options const& o, query const& q) {
  if (o.out.empty()) throw triad::data_error("generate needs a folder: --out DIR");
  triad::examples::make_folder(o.out);
  auto const make = [&](std::vector<int> const& lengths, int count, std::uint64_t seed) {
    chain_generator chains(seed);
    std::vector<kinship_graph> graphs;
    for (int k : lengths)
      for (int i = 0; i < count; ++i) graphs.push_back(chains.next(k));
    return graphs;
  };
  std::string name;
  for (int k : q.lengths) name += (name.empty() ? "1." : ",1.") + std::to_string(k);
  auto const train = make(q.lengths, q.count, o.seed);
  write_graphs(o.out + "/" + name + "_train.csv", train, generated_vocabulary(), "train");
  std::printf("%s/%s_train.csv  %zu rows\n", o.out.c_str(), name.c_str(), train.size());
  for (int k = 2; k <= 10; ++k) {
    auto const test = make({k}, o.test_size, o.seed + 1000000 + static_cast<std::uint64_t>(k));
    auto const path = o.out + "/1." + std::to_string(k) + "_test.csv";
    write_graphs(path, test, generated_vocabulary(), "test");
    std::printf("%s  %zu rows\n", path.c_str(), test.size());
  }
  return 0;
}

}  // namespace clutrr
