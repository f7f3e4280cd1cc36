// Computes the answers of a trained model to single questions and to all questions of a data set, and their proof
// paths.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "proof.hpp"
#include "proof_page.hpp"
#include "shared/backend/in_batches.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/confusion.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/probabilities.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/ensemble.hpp"
#include "shared/run/run_folder.hpp"
#include "training.hpp"

namespace triad::programs::graphs {

int most_nodes(graph_list const& graphs) {
  int most = 1;
  for (auto const& g : graphs) most = std::max(most, g.nodes);
  return most;
}

int most_nodes(std::vector<test_part> const& parts) {
  int most = 1;
  for (auto const& part : parts) most = std::max(most, most_nodes(part.graphs));
  return most;
}

namespace {

/// Puts the graphs into batches as large as memory allows.  For each batch of graphs `first` to `last` - 1, calls
/// take(first, last, answer()).
template <class Answer, class Take>
void answer_in_batches(network& net, graph_list const& graphs, Answer const& answer, Take const& take) {
  in_batches(
      net, graphs.size(), [&](std::size_t i) { return net.add(graphs[i]); },
      [&](std::size_t i) {
        return fmt::format("graph {} has {} nodes, more than the model has room for", i, graphs[i].nodes);
      },
      answer, take);
}

double share_of(std::size_t correct, graph_list const& graphs) {
  return graphs.empty() ? 0 : static_cast<double>(correct) / static_cast<double>(graphs.size());
}

}  // namespace

void answer_all(network& net, graph_list const& graphs, std::function<void(labelled_graph const&, int)> const& f) {
  answer_in_batches(
      net, graphs, [&]() -> auto const& { return net.infer(); },
      [&](std::size_t first, std::size_t last, std::vector<index_t> const& best) {
        for (auto i = first; i < last; ++i) f(graphs[i], static_cast<int>(best[i - first]));
      });
}

network& answerer::asked(labelled_graph const& graph) {
  if (graph.nodes > most_) {
    int const most = std::max(graph.nodes, std::min(2 * most_, largest_graph));
    most_ = 0;
    model_.reset();  // frees the old model's memory first: two models may not fit
    model_.emplace(trained_model(options_, file_, most));
    most_ = most;
  }
  model_->net->clear();
  model_->net->add(graph);
  return *model_->net;
}

int answerer::operator()(labelled_graph const& graph) { return static_cast<int>(asked(graph).infer().front()); }

std::vector<double> answerer::probabilities(labelled_graph const& graph) {
  return probabilities_of(asked(graph).logits());
}

double accuracy(network& net, graph_list const& graphs) {
  std::size_t correct = 0;
  answer_all(net, graphs, [&](labelled_graph const& g, int answer) { correct += answer == g.target ? 1u : 0u; });
  return share_of(correct, graphs);
}

std::size_t widest(std::vector<std::string> const& names) {
  std::size_t width = 4;
  for (auto const& name : names) width = std::max(width, name.size());
  return width;
}

vocabulary words_of(checkpoint const& file) { return vocabulary::from(file.vocabulary(), file.tensors().file()); }

void add_larger_graphs(std::vector<sized_example>& to, int than, graph_list const& graphs,
                       std::vector<std::string> const& places, std::string const& name) {
  add_larger(
      to, than, graphs.size(), [&](std::size_t i) { return graphs[i].nodes; },
      [&](std::size_t i) { return places.empty() ? fmt::format("graph {} of {}", i + 1, name) : places[i]; });
}

namespace {
trained<network> trained_with(options const& o, checkpoint const& file, int most, bool explaining,
                              room_advice const& advice) {
  return {o, file,
          [&](vocabulary const& words, options const&) {
            return network_room{.labels = words.embedding_rows(),
                                .names = words.targets.end(),
                                .batch = explaining ? 1 : 64,
                                .usual = std::min(most, 24),
                                .most = most,
                                .learns = explaining};
          },
          advice};
}
}  // namespace

trained<network> trained_model(options const& o, checkpoint const& file, int most, bool explaining) {
  return trained_with(o, file, most, explaining, {});
}

trained<network> trained_model(options const& o, checkpoint const& file, std::vector<test_part> const& parts) {
  int const most = most_nodes(parts);
  return trained_with(o, file, most, false, {.unit = "nodes", .larger = [&] {
                                               std::vector<sized_example> all;
                                               for (auto const& part : parts)
                                                 add_larger_graphs(all, nearly(most), part.graphs, part.places,
                                                                   part.name);
                                               return all;
                                             }});
}

namespace {

/// The function that receives each answer.  It is called part after part, with the number of the part, the graph, and
/// the number of the likeliest target.
using answer_consumer = std::function<void(std::size_t part, labelled_graph const&, int)>;

void say_unrolled(options const& o, checkpoint const& file) {
  if (o.unrolled > 0)
    say("{}: the layer is applied {} times, in training {}\n", file.tensors().file(), o.unrolled,
        file.setting("layers", 1, most_layers));
}

/// Averages the answers of all runs.  Only one run's model is in memory at a time.
void answer_together(options const& o, checkpoint const& first, std::vector<test_part> const& parts,
                     answer_consumer const& answered) {
  std::vector<log_probability_sums> sums;
  auto const add = [&](std::string const& run, checkpoint const& file) {
    auto advice = o;
    advice.run = run;
    auto const model = trained_model(advice, file, parts);
    say_unrolled(advice, file);
    if (sums.empty()) sums.assign(parts.size(), log_probability_sums(model.words.targets.names().size()));
    for (std::size_t p = 0; p < parts.size(); ++p)
      answer_in_batches(
          *model.net, parts[p].graphs, [&]() -> auto const& { return model.net->logits(); },
          [&](std::size_t from, std::size_t, std::vector<float> const& logits) { sums[p].add(from, logits); });
  };
  expect_different_runs(o.run, o.more_runs);
  for (auto const& run : o.more_runs)  // checks all runs before any answer is computed
    expect_together(o, first, run, open_run(run));
  add(o.run, first);
  for (auto const& run : o.more_runs) add(run, open_checkpoint(checkpoint_of(run)));
  fmt::print("{} runs answer together, by the mean of their log-probabilities\n", o.more_runs.size() + 1);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t i = 0; i < parts[p].graphs.size(); ++i)
      answered(p, parts[p].graphs[i], static_cast<int>(sums[p].best(i)));
}

}  // namespace

void evaluate(options const& o, checkpoint const& file, std::vector<test_part> const& parts) {
  expect_free_in_folder(o, {"confusion.csv"});
  auto const words = words_of(file);
  if (!o.out.empty()) make_folder(o.out);
  std::vector<std::string> names;
  for (auto const& part : parts) names.push_back(printable_name(part.name));
  confusion answers;
  std::vector<std::size_t> correct(parts.size());
  auto const answered = [&](std::size_t part, labelled_graph const& g, int answer) {
    correct[part] += answer == g.target ? 1u : 0u;
    answers.add(parts[part].name, words.targets.name_or_none(g.target), words.target_name(answer));
  };
  if (o.more_runs.empty()) {
    auto const model = trained_model(o, file, parts);
    say_unrolled(o, file);
    for (std::size_t p = 0; p < parts.size(); ++p)
      answer_all(*model.net, parts[p].graphs, [&](labelled_graph const& g, int answer) { answered(p, g, answer); });
  } else {
    answer_together(o, file, parts, answered);
  }
  for (std::size_t p = 0; p < parts.size(); ++p)
    fmt::print("{:<{}}  {:.3f}  ({} questions)\n", names[p], widest(names), share_of(correct[p], parts[p].graphs),
               parts[p].graphs.size());
  if (o.confusion) fmt::print("{}", answers.table());
  if (!o.out.empty()) first_writes(o.out + "/confusion.csv", answers.csv());
}

namespace {

/// Throws data_error if a graph is too large for a page.  A page has one number for every triple of nodes, layer and
/// head.
void expect_page_of(int nodes) {
  constexpr int most = most_nodes_of_page;
  if (nodes > most)
    refuse("--html: the graph has {} nodes, and a page shows at most {}: ask a smaller graph, or draw it with --out",
           nodes, most);
}

/// Returns the likeliest answers for the batch's only graph and their probabilities, the likeliest answer first.
std::vector<std::pair<std::string, double>> likeliest_answers(network& net, vocabulary const& words) {
  constexpr std::size_t most = 6;
  std::vector<std::pair<std::string, double>> all;
  for (double const p : probabilities_of(net.logits()))
    all.emplace_back(words.target_name(static_cast<int>(all.size())), p);
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.second > b.second; });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace

void explain(options const& o, checkpoint const& file, labelled_graph const& graph,
             std::vector<std::string> const& names) {
  expect_free_in_folder(o, {"proof.svg"});
  if (!o.html.empty()) expect_page_of(graph.nodes);
  auto const model = trained_model(o, file, graph.nodes, true);
  if (model.options.model != "edge-transformer" || model.options.attention == triangle_form::flat)
    refuse("explain reads triangular attention, which {} ({}) does not have", model.options.model,
           attention_name(model.options.attention));
  model.net->add(graph);
  auto const answer = static_cast<int>(model.net->infer().front());

  proof_input proof;
  proof.people = names;
  for (auto const& e : graph.edges) proof.facts.push_back({e.from, e.to, model.words.edge_name(e.label)});
  proof.from = graph.query.from;
  proof.to = graph.query.to;
  proof.answer = model.words.target_name(answer);
  proof_details page;
  for (int layer = 0; layer < model.options.layers; ++layer) {
    auto& weights = proof.layers.emplace_back();
    auto& by_head = page.weights.emplace_back(static_cast<std::size_t>(model.options.heads));
    for (int i = 0; i < graph.nodes; ++i)
      for (int j = 0; j < graph.nodes; ++j) {
        auto const heads = model.net->attention({.layer = layer, .graph = 0, .edge = {i, j}});
        auto& mean = weights[{i, j}];
        mean.assign(static_cast<std::size_t>(graph.nodes), 0.0);
        for (index_t h = 0; h < heads.heads(); ++h)
          for (index_t l = 0; l < heads.terms(); ++l) {
            auto const weight = static_cast<double>(heads(h, l));
            mean[static_cast<std::size_t>(l)] += weight / static_cast<double>(heads.heads());
            if (!o.html.empty()) by_head[static_cast<std::size_t>(h)].push_back(thousandths(weight));
          }
      }
  }
  auto const steps = find_proof(proof);
  std::fputs(proof_text(proof, steps).c_str(), stdout);
  if (graph.target >= 0) fmt::print("the right answer: {}\n", printable_name(model.words.target_name(graph.target)));
  if (!o.out.empty()) {
    make_folder(o.out);
    write_proof_svg(o.out + "/proof.svg", proof, steps);
    say("drawn in {}/proof.svg\n", o.out);
  }
  if (o.html.empty()) return;
  page.answers = likeliest_answers(*model.net, model.words);
  if (graph.target >= 0) page.right = model.words.target_name(graph.target);
  write_page(o.html, proof_page(proof, steps, page));
  say("a page is in {}\n", o.html);
}

}  // namespace triad::programs::graphs
