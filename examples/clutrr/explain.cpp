// clutrr explain: the proof path of one answer, from the weights of triangular attention.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <utility>

#include "../common/run_folder.hpp"
#include "commands.hpp"
#include "data.hpp"
#include "facts.hpp"
#include "generate.hpp"
#include "proof.hpp"
#include "record.hpp"
#include "trained.hpp"

namespace clutrr {
namespace {

/// The question to explain: told, a row of a file, or a generated chain.
story pick(options const& o, query const& q, vocabulary const& words) {
  if (!q.facts.empty()) return parse_facts(q.facts, q.asked, words);
  story s;
  if (!o.data.empty()) {
    auto graphs = read_graphs(o.data, words);
    if (static_cast<std::size_t>(q.number) >= graphs.size())
      throw triad::data_error(o.data + " has " + std::to_string(graphs.size()) + " rows; --row counts from 0");
    s.graph = std::move(graphs[static_cast<std::size_t>(q.number)]);
  } else {
    chain_generator chains(0xe17);
    for (int i = 0; i <= q.number; ++i) s.graph = chains.next(q.k);
    s.graph = translated(std::move(s.graph), words);
  }
  for (int i = 0; i < s.graph.nodes; ++i)
    s.people.push_back(i < 26 ? std::string(1, static_cast<char>('A' + i)) : "P" + std::to_string(i));
  return s;
}

}  // namespace

int explain(options const& o, query const& q) {
  auto const words = vocabulary_of(triad::examples::open_checkpoint(triad::examples::checkpoint_of(q.checkpoint)));
  auto const s = pick(o, q, words);
  auto const model = load_trained(q.checkpoint, o, s.graph.nodes, true);
  if (model.model.model != "edge-transformer" || model.model.attention == triad::triangle_form::flat)
    throw triad::data_error("explain reads triangular attention, which " + model.model.model + " (" +
                            triad::examples::attention_name(model.model.attention) + ") does not have");
  model.net->add(s.graph);
  auto const answer = static_cast<int>(model.net->infer().front());

  proof_input proof;
  proof.people = s.people;
  for (auto const& e : s.graph.edges) proof.facts.push_back({e.from, e.to, words.edge_name(e.label)});
  proof.from = s.graph.query.from;
  proof.to = s.graph.query.to;
  proof.answer = words.target_name(answer);
  for (int layer = 0; layer < model.model.layers; ++layer) {
    auto& weights = proof.layers.emplace_back();
    for (int i = 0; i < s.graph.nodes; ++i)
      for (int j = 0; j < s.graph.nodes; ++j) {
        auto const heads = model.net->attention(layer, i, j);
        auto& mean = weights[{i, j}];
        mean.assign(static_cast<std::size_t>(s.graph.nodes), 0.0);
        for (auto const& head : heads)
          for (std::size_t l = 0; l < mean.size(); ++l)
            mean[l] += static_cast<double>(head[l]) / static_cast<double>(heads.size());
      }
  }
  auto const steps = find_proof(proof);
  std::fputs(proof_text(proof, steps).c_str(), stdout);
  if (s.graph.target >= 0) std::printf("the right answer: %s\n", words.target_name(s.graph.target).c_str());
  if (!o.out.empty()) {
    triad::examples::make_folder(o.out);
    write_proof_svg(o.out + "/proof.svg", proof, steps);
    std::printf("drawn in %s/proof.svg\n", o.out.c_str());
  }
  return 0;
}

}  // namespace clutrr
