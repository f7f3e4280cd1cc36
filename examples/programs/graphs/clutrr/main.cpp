// The program clutrr, which predicts the relation of two people of a family.  This file has what is particular to
// clutrr: published data, generated chains and questions in words.  The model and its training are shared by all
// programs of labelled graphs.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "derived.hpp"
#include "facts.hpp"
#include "generate.hpp"
#include "graphs/direction.hpp"
#include "graphs/training.hpp"
#include "options.hpp"
#include "shared/cli/record.hpp"
#include "shared/cli/say.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/csv.hpp"
#include "shared/data/new_data.hpp"
#include "shared/data/questions.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::clutrr {
namespace {

/// Makes one part of the data for each k, with a name for tables.
std::vector<graphs::test_part> parts_of(std::map<int, std::vector<kinship_graph>> by_k) {
  std::vector<graphs::test_part> parts;
  for (auto& [k, all] : by_k) parts.push_back({"k=" + std::to_string(k), std::move(all)});
  return parts;
}

/// Seeds of the generated chains for validation and for tests.  They differ from the seeds 1, 2, 3 ... of training.
constexpr std::uint64_t dev_seed = 0x7a11d;
constexpr std::uint64_t test_seed(int k) { return 0x7e57 + static_cast<std::uint64_t>(k); }

/// Generates `each` test chains of each length k = 2 .. 10.
std::vector<graphs::test_part> generated_tests(int each) {
  std::map<int, std::vector<kinship_graph>> test;
  for (int k = 2; k <= 10; ++k) {
    chain_generator chains(test_seed(k));
    for (int i = 0; i < each; ++i) test[k].push_back(chains.next(k));
  }
  return parts_of(std::move(test));
}

graphs::data_set training_data(options const& o) {
  graphs::data_set d;
  if (!o.data.empty()) {
    refuse_given(o, {"chains", "train-lengths", "test-size"}, "generated chains: leave it out, or --data");
    auto all = read_data(o.data);
    d.words = std::move(all.words);
    d.train = std::move(all.train);
    d.dev = std::move(all.dev);
    d.tests = parts_of(std::move(all.test));
    return d;
  }
  refuse_seed(o, dev_seed, "dev chains");
  for (int k = 2; k <= 10; ++k) refuse_seed(o, test_seed(k), fmt::format("test chains of k = {}", k));
  auto const lengths = o.train_lengths;
  d.words = generated_vocabulary();
  d.tests = generated_tests(o.test_size);
  chain_generator chains(dev_seed);
  for (std::size_t i = 0; i < static_cast<std::size_t>(o.test_size); ++i)
    d.dev.push_back(chains.next(lengths[i % lengths.size()]));
  d.made = [lengths](std::uint64_t seed, std::int64_t number) {
    auto const i = static_cast<std::size_t>(number);
    chain_generator made(seed);
    made.seek(i);
    return made.next(lengths[i % lengths.size()]);
  };
  d.made_in_all = &o.chains;
  d.made_nodes = *std::max_element(lengths.begin(), lengths.end()) + 1;
  return d;
}

int train(options& o) {
  auto const data = training_data(o);
  return graphs::train(
      o, data,
      {.title = o.data.empty() ? "Generated chains: accuracy by length" : "CLUTRR: accuracy by chain length",
       .x = "k (facts in the chain)",
       .no_tests = "give a folder with *_test.csv, more rows, or a larger --validation",
       .place = [](std::string const& part) { return std::stod(part.substr(2)); },
       .paper = paper_curve(o)});
}

int evaluate(options const& o) {
  auto const file = open_run(o.run);
  auto const words = graphs::words_of(file);
  std::vector<graphs::test_part> test;
  if (o.data.empty()) {
    test = generated_tests(o.test_size);
    for (auto& part : test)
      for (auto& g : part.graphs) g = translated(std::move(g), words);
  } else {
    if (o.data_of_run && !std::filesystem::exists(o.data))
      refuse("{}, the data of this run, is not there: give it, or other data, with --data", o.data);
    if (o.data_of_run && !is_folder(o.data))
      refuse(
          "{} is the file that this run was trained on, and there is no other: give one to evaluate it on with --data",
          o.data);
    refuse_generated(o, {"test-size"}, "chains");
    test = parts_of(read_test(o.data, words));
  }
  graphs::evaluate(o, file, test);
  return 0;
}

int predict(options const& o) {
  bool const told = !o.facts.empty() || !o.asked.empty();
  o.questions.expect_one_way({{"--facts with --ask", told}, {"--data", !o.rows.empty()}});
  auto const file = open_run(o.run);
  auto const words = graphs::words_of(file);
  graphs::answerer ask(o, file);
  graphs::direction_of_questions directions;
  // Returns the likeliest target.  Without --probabilities, the probability is not computed and is 0.
  auto const answered = [&](kinship_graph const& graph) -> std::pair<int, double> {
    if (!o.probabilities) return {ask(graph), 0};
    auto const all = ask.probabilities(graph);
    auto const best = std::max_element(all.begin(), all.end());
    return {static_cast<int>(best - all.begin()), *best};
  };
  auto const answer = [&](std::string const& facts, std::string const& asked) {
    auto const s = parse_facts(facts, asked, words);
    directions.add(s.graph, [&] { return told ? "--ask " + asked : o.questions.place(); });
    auto const person = [&](int i) { return s.people[static_cast<std::size_t>(i)]; };
    auto const [target, probability] = answered(s.graph);
    programs::answer(fmt::format("{} is {}'s {}{}\n", person(s.graph.query.to), person(s.graph.query.from),
                                 words.target_name(target),
                                 o.probabilities ? fmt::format("  {:.4f}", probability) : std::string()));
  };
  int status = 0;
  if (told) {
    answer(o.facts, o.asked);
  } else if (o.rows.empty()) {
    status = o.questions.answer(o.program, [&](std::string const& text) {  // the last word is the question
      if (text.find("[(") != std::string::npos || text.find("story_edges") != std::string::npos)
        refuse("found a line of a CSV file, expected facts and the question: give the file with --data");
      auto const end = text.find_last_not_of(" \t\r"), cut = text.find_last_of(" \t", end);
      bool const both = cut != std::string::npos;
      answer(both ? text.substr(0, cut) : "", text.substr(both ? cut + 1 : 0, both ? end - cut : end + 1));
    });
  } else {
    auto const all = read_graphs(o.rows, words);
    int row = 0;
    auto const line = [&](kinship_graph const& g, int found, std::string const& more) {
      directions.add(g, [&] { return fmt::format("row {} of {}", row + 1, o.rows); });
      programs::answer(fmt::format("{},{},{},{}{}\n", ++row, g.k, csv_cell(words.target_name(found)),
                                   csv_cell(words.target_name(g.target)), more));
    };
    fmt::print("row,k,predicted,target{}\n", o.probabilities ? ",probability" : "");
    if (o.probabilities) {
      for (auto const& g : all) {
        auto const [found, probability] = answered(g);
        line(g, found, fmt::format(",{:.4f}", probability));
      }
    } else {
      auto const model = graphs::trained_model(o, file, graphs::most_nodes(all));
      graphs::answer_all(*model.net, all, [&](kinship_graph const& g, int found) { line(g, found, {}); });
    }
  }
  note(o.program, directions.note());
  return status;
}

/// Returns the question to explain.  It is given by --facts, is a row of a file, or is a generated chain.
story asked_story(options const& o, vocabulary const& words) {
  bool const told = !o.facts.empty() || !o.asked.empty();
  expect_one_way({{"--facts with --ask", told}, {"--data", !o.rows.empty()}, {"--length", o.given.contains("length")}});
  if (told) refuse_given(o, {"row"}, "--data or a generated chain");
  if (told) return parse_facts(o.facts, o.asked, words);
  story s;
  if (!o.rows.empty()) {
    auto all = read_graphs(o.rows, words);
    if (static_cast<std::size_t>(o.number) > all.size())
      refuse("{} has {} rows; --row counts from 1", o.rows, all.size());
    s.graph = std::move(all[static_cast<std::size_t>(o.number) - 1]);
  } else {
    chain_generator chains(0xe17);
    for (int i = 0; i < o.number; ++i) s.graph = chains.next(o.k);
    s.graph = translated(std::move(s.graph), words);
  }
  for (int i = 0; i < s.graph.nodes; ++i)
    s.people.push_back(i < 26 ? std::string(1, static_cast<char>('A' + i)) : "P" + std::to_string(i));
  return s;
}

int explain(options const& o) {
  auto const file = open_run(o.run);
  auto const s = asked_story(o, graphs::words_of(file));
  graphs::explain(o, file, s.graph, s.people);
  return 0;
}

/// Writes chains as CSV files in the published format.
int generate(options const& o) {
  if (auto const there = is_folder(o.out) ? files_of(o.out, "") : std::vector<std::string>(); !there.empty())
    refuse("{} is there already: give --out a folder without data", there.front());
  auto const chains_of = [](std::vector<int> const& lengths, int each, auto& chains) {
    std::vector<kinship_graph> all;
    for (int const k : lengths)
      for (int i = 0; i < each; ++i) all.push_back(chains.next(k));
    return all;
  };
  for (auto k = o.lengths.begin(); k != o.lengths.end(); ++k)
    if (std::find(o.lengths.begin(), k, *k) != k)
      refuse("--lengths names {} twice, and --count is for each: name each length once", *k);
  std::vector<new_file> files;
  auto const add = [&](std::string const& name, std::vector<kinship_graph> const& all, vocabulary const& words) {
    files.push_back({name + ".csv", to_csv(all, words, name.ends_with("train") ? "train" : "test"),
                     fmt::format("{} rows", all.size())});
  };
  auto const test_name = [](int k) { return fmt::format("1.{}_test", k); };
  if (!o.rules_of.empty()) {
    refuse_given(o, {"lengths", "count"}, "training chains, and --rules-of makes tests alone");
    auto const data = read_data(o.rules_of);
    graphs::composition_rules rules;
    for (auto const& g : data.train) rules.learn(g);
    derived_chains chains(rules, data.words, o.seed);
    for (int k = 2; k <= 10; ++k) add(test_name(k), chains_of({k}, o.test_size, chains), data.words);
  } else {
    auto const add_made = [&](std::string const& name, std::vector<int> const& lengths, int each, std::uint64_t seed) {
      chain_generator chains(seed);
      add(name, chains_of(lengths, each, chains), generated_vocabulary());
    };
    std::string name;
    for (int const k : o.lengths) name += fmt::format("{}1.{}", name.empty() ? "" : ",", k);
    add_made(name + "_train", o.lengths, o.count, o.seed);
    for (int k = 2; k <= 10; ++k)
      add_made(test_name(k), {k}, o.test_size, o.seed + 1000000 + static_cast<std::uint64_t>(k));
  }
  write_data(o.out, files);
  return 0;
}

}  // namespace
}  // namespace triad::programs::clutrr

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::clutrr;
  return run_program<options>(
      "clutrr",
      "CLUTRR: how are two people of a family related?  An Edge Transformer learns it from short chains and answers "
      "long ones.",
      [](options& o) -> std::vector<verb> {
        return {
            {"train", "Train on a data set or on generated chains, and evaluate by chain length",
             [&o] { return train(o); }},
            {"evaluate", "Accuracy of a trained model by chain length", [&o] { return evaluate(o); }},
            {"predict", "Answer every question of a CSV file, or of the command line or standard input",
             [&o] { return predict(o); }},
            {"explain", "Show which middle people the attention used for one question", [&o] { return explain(o); }},
            {"generate", "Write generated chains as CSV files", [&o] { return generate(o); }}};
      },
      argc, argv, "examples/programs/graphs/clutrr/README.md");
}
