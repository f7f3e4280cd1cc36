// clutrr evaluate and predict: what a trained model answers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>

#include "../common/run_folder.hpp"
#include "commands.hpp"
#include "data.hpp"
#include "facts.hpp"
#include "generate.hpp"
#include "record.hpp"
#include "run.hpp"
#include "trained.hpp"

namespace clutrr {
namespace {

vocabulary words_of(std::string const& folder) {
  return vocabulary_of(triad::examples::open_checkpoint(triad::examples::checkpoint_of(folder)));
}

int largest(std::vector<kinship_graph> const& graphs) {
  int most = 1;
  for (auto const& g : graphs) most = std::max(most, g.nodes);
  return most;
}

}  // namespace

int evaluate(options const& o, query const& q) {
  auto const words = words_of(q.checkpoint);
  std::map<int, std::vector<kinship_graph>> test;
  if (o.data.empty()) {
    task generated([&] {
      options plain;
      plain.test_size = o.test_size;
      return plain;
    }());
    for (auto const& [k, graphs] : generated.test())
      for (auto const& g : graphs) test[k].push_back(translated(g, words));
  } else {
    if (q.data_of_run && !is_folder(o.data))
      throw triad::data_error(o.data +
                              " is the file that this run was trained on, and there is no other: give one to "
                              "evaluate it on with --data");
    test = read_test(o.data, words);
  }
  int most = 1;
  for (auto const& [k, graphs] : test) most = std::max(most, largest(graphs));
  auto const model = load_trained(q.checkpoint, o, most);
  for (auto const& [k, graphs] : test)
    std::printf("k=%-2d  %.3f  (%zu questions)\n", k, accuracy(*model.net, graphs), graphs.size());
  return 0;
}

int predict(options const& o, query const& q) {
  auto const words = words_of(q.checkpoint);
  if (!q.facts.empty()) {
    auto const s = parse_facts(q.facts, q.asked, words);
    auto const model = load_trained(q.checkpoint, o, s.graph.nodes);
    model.net->add(s.graph);
    auto const person = [&](int i) { return s.people[static_cast<std::size_t>(i)].c_str(); };
    std::printf("%s is %s's %s\n", person(s.graph.query.to), person(s.graph.query.from),
                words.target_name(static_cast<int>(model.net->infer().front())).c_str());
    return 0;
  }
  if (o.data.empty()) throw triad::data_error("predict needs --data FILE, or --facts and --ask");
  auto const graphs = read_graphs(o.data, words);
  auto const model = load_trained(q.checkpoint, o, largest(graphs));
  std::printf("row,k,predicted,target\n");
  for (std::size_t next = 0; next < graphs.size();) {
    auto const first = next;
    model.net->clear();
    while (next < graphs.size() && model.net->add(graphs[next])) ++next;
    auto const& best = model.net->infer();
    for (auto i = first; i < next; ++i)
      std::printf("%zu,%d,%s,%s\n", i, graphs[i].k, words.target_name(static_cast<int>(best[i - first])).c_str(),
                  words.target_name(graphs[i].target).c_str());
  }
  return 0;
}

}  // namespace clutrr
