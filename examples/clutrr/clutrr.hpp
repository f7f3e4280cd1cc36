// clutrr: how are two people of a family related?  The published data and generated chains, the paper's settings and
// figures, and questions in words; the model and its training are those of all labelled graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../apps/questions.hpp"
#include "../apps/run_folder.hpp"
#include "../apps/verbs.hpp"
#include "../graphs/training.hpp"
#include "data.hpp"
#include "facts.hpp"
#include "generate.hpp"

namespace clutrr {

struct options : graphs::options {
  std::vector<int> train_lengths{2, 3, 4};  // generated chains: k of the training data
  int test_size = 1000;                     // generated chains for each k of the test
  std::int64_t chains = 100000;             // generated: how many in all, in `epochs` equal parts

  std::string rows;                   // predict, explain: a file of questions
  std::string facts, asked;           // "ann:mother:bea bea:brother:carl", "ann:carl"
  triad::apps::questions questions;   // both in one text
  int number = 0, k = 4;              // explain: a row of the file, or which generated chain, and its length
  std::vector<int> lengths{2, 3, 4};  // generate
  int count = 1000;                   // generate: for each k

  void each(triad::apps::option_list& f) override {
    f("preset", &preset, "quickstart, paper-k234, paper-k23, smoke")
        .one_of({"quickstart", "paper-k234", "paper-k23", "smoke"})
        .free();
    f("data", &data, "CLUTRR CSV file (.csv, .csv.gz) or data set folder; without it, generated chains")
        .also({"evaluate"})
        .path();
    f("test-size", &test_size, "Generated chains for each k of the test").also({"evaluate"}).positive().free();
    graphs::options::each(f);
    f("train-lengths", &train_lengths, "k of generated training chains").between(2, 40);
    f("chains", &chains, "Generated training chains in all").positive();

    f("data", &rows, "CLUTRR CSV file with the questions").only({"predict", "explain"});
    f("facts", &facts, "Facts as \"ann:mother:bea bea:brother:carl\": the mother of ann is bea, ...")
        .only({"predict", "explain"});
    f("ask", &asked, "The question to the facts as \"ann:carl\": what is carl to ann?").only({"predict", "explain"});
    questions.each(f, "Facts and the question as \"ann:mother:bea bea:brother:carl ann:carl\"");
    f("row", &number, "Which row of the file, or which generated chain, from 0").only({"explain"}).not_negative();
    f("length", &k, "Without --data and --facts: k of a generated chain").only({"explain"}).between(2, 40);
    f("out", &out, "Folder for proof.svg").only({"explain"});
    f("out", &out, "Folder of the new data set").only({"generate"}).required();
    f("lengths", &lengths, "k of the training chains").only({"generate"}).between(2, 40);
    f("count", &count, "Training chains for each k").only({"generate"}).positive();
    f("test-size", &test_size, "Test chains for each k = 2..10").only({"generate"}).positive();
    f("seed", &seed, "").only({"generate"});
  }
};

/// The defaults that o.preset and o.model stand for.
///   paper-k234, paper-k23   one setting; the data differ.  Layers, width, heads, batch, rate and epochs: the Edge
///                           Transformer paper's Table 1, also of rat and rrat; tied layers and 4 d: its section 3, of
///                           the Edge Transformer; dropout, warm-up, fall, clip and what is held out: the released
///                           program.  Whether rat and rrat are tied the paper does not say: ours are.
///   quickstart              ours
inline void apply_preset(options& o) {
  if (o.preset == "quickstart") {
    // There are few different short chains: dropout keeps the model from knowing them by heart, and the longest say
    // most.
    o.layers = 8, o.width = 64, o.heads = 4, o.batch = 96, o.warmup = 0;
    o.train_lengths = {2, 3, 4, 4, 4, 4};
    o.chains = 200000, o.epochs = 20;
    if (o.model == "edge-transformer") o.compare = "rat";
  } else if (o.preset == "smoke") {
    o.layers = 2, o.width = 16, o.heads = 2, o.dropout = 0, o.batch = 32, o.warmup = 0;
    o.chains = 640, o.epochs = 2, o.test_size = 20;
  } else {  // the paper's baselines
    if (o.model == "rat") o.width = 320, o.heads = 8, o.batch = 200;
    if (o.model == "rrat") o.layers = 6, o.width = 320, o.heads = 8, o.batch = 200;
  }
}

/// The paper's table for the Edge Transformer, accuracy at k = 6..10, mean and standard error of 10 runs, that a run of
/// these options can be held against, if there is any: where nothing but the seed is given beside the preset that
/// decides what a run computes.
inline std::optional<triad::apps::series> paper_curve(options const& o) {
  options as_published;
  as_published.preset = o.preset;
  apply_preset(as_published);
  as_published.seed = o.seed;
  if (training_settings(o) != training_settings(as_published)) return std::nullopt;
  using triad::apps::series;
  if (o.preset == "paper-k234")
    return series{
        "paper (10 runs)", {6, 7, 8, 9, 10}, {.981, .979, .953, .923, .921}, {.003, .007, .015, .015, .015}, true};
  if (o.preset == "paper-k23")
    return series{
        "paper (10 runs)", {6, 7, 8, 9, 10}, {.820, .743, .669, .618, .581}, {.020, .024, .026, .029, .028}, true};
  return std::nullopt;
}

/// By k, with the names that tables have for them.
inline std::vector<graphs::test_part> parts_of(std::map<int, std::vector<kinship_graph>> by_k) {
  std::vector<graphs::test_part> parts;
  for (auto& [k, all] : by_k) parts.push_back({"k=" + std::to_string(k), std::move(all)});
  return parts;
}

/// Chains of k = 2 .. 10, far from those of the training seeds 1, 2, 3 ...
inline std::vector<graphs::test_part> generated_tests(int each) {
  std::map<int, std::vector<kinship_graph>> test;
  for (int k = 2; k <= 10; ++k) {
    chain_generator chains(0x7e57 + static_cast<std::uint64_t>(k));
    for (int i = 0; i < each; ++i) test[k].push_back(chains.next(k));
  }
  return parts_of(std::move(test));
}

inline graphs::data_set training_data(options const& o) {
  graphs::data_set d;
  if (!o.data.empty()) {
    auto all = read_data(o.data);
    d.words = std::move(all.words), d.train = std::move(all.train), d.tests = parts_of(std::move(all.test));
    return d;
  }
  auto const lengths = o.train_lengths;
  d.words = generated_vocabulary();
  d.tests = generated_tests(o.test_size);
  chain_generator chains(0x7a11d);
  for (std::size_t i = 0; i < static_cast<std::size_t>(o.test_size); ++i)
    d.dev.push_back(chains.next(lengths[i % lengths.size()]));
  d.made = [lengths](std::uint64_t seed, std::int64_t first, std::int64_t count, auto const& use) {
    chain_generator made(seed);
    auto const from = static_cast<std::size_t>(first);
    made.seek(from);
    for (auto i = from; i < from + static_cast<std::size_t>(count); ++i) use(made.next(lengths[i % lengths.size()]));
  };
  d.made_in_all = o.chains;
  d.made_nodes = *std::max_element(lengths.begin(), lengths.end()) + 1;
  return d;
}

inline int train(options& o) {
  if (o.preset.starts_with("paper") && o.data.empty())
    throw triad::data_error(
        "--preset " + o.preset +
        " is about published data: give its folder with --data; docs/data.md says where it comes from");
  auto const data = training_data(o);
  return graphs::train(o, data,
                       {.title = "CLUTRR: accuracy by chain length",
                        .x = "k (facts in the chain)",
                        .no_tests = "give a folder with *_test.csv, more rows, or a larger --validation",
                        .place = [](std::string const& part) { return std::stod(part.substr(2)); },
                        .paper = paper_curve(o)});
}

inline int evaluate(options const& o) {
  auto const file = triad::apps::open_run(o.run);
  auto const words = graphs::words_of(file);
  std::vector<graphs::test_part> test;
  if (o.data.empty()) {
    test = generated_tests(o.test_size);
    for (auto& part : test)
      for (auto& g : part.graphs) g = translated(std::move(g), words);
  } else {
    if (o.data_of_run && !is_folder(o.data))
      throw triad::data_error(o.data +
                              " is the file that this run was trained on, and there is no other: give one to "
                              "evaluate it on with --data");
    test = parts_of(read_test(o.data, words));
  }
  graphs::evaluate(o, file, test);
  return 0;
}

inline int predict(options const& o) {
  auto const file = triad::apps::open_run(o.run);
  auto const words = graphs::words_of(file);
  graphs::answerer ask(o, file);
  auto const answer = [&](std::string const& facts, std::string const& asked) {
    auto const s = parse_facts(facts, asked, words);
    auto const person = [&](int i) { return s.people[static_cast<std::size_t>(i)]; };
    fmt::print("{} is {}'s {}\n", person(s.graph.query.to), person(s.graph.query.from),
               words.target_name(ask(s.graph)));
  };
  if (!o.facts.empty()) {
    answer(o.facts, o.asked);
  } else if (o.rows.empty()) {
    o.questions.answer([&](std::string const& text) {  // the last word is the question
      auto const end = text.find_last_not_of(" \t\r"), cut = text.find_last_of(" \t", end);
      if (end == std::string::npos) return;
      bool const both = cut != std::string::npos;
      answer(both ? text.substr(0, cut) : "", text.substr(both ? cut + 1 : 0, both ? end - cut : end + 1));
    });
  } else {
    auto const all = read_graphs(o.rows, words);
    auto const model = graphs::trained_model(o, file, graphs::most_nodes(all));
    fmt::print("row,k,predicted,target\n");
    graphs::answer_all(*model.net, all, [&, row = 0](kinship_graph const& g, int found) mutable {
      fmt::print("{},{},{},{}\n", row++, g.k, words.target_name(found), words.target_name(g.target));
    });
  }
  return 0;
}

/// The question to explain: told, a row of a file, or a generated chain.
inline story asked_story(options const& o, vocabulary const& words) {
  if (!o.facts.empty()) return parse_facts(o.facts, o.asked, words);
  story s;
  if (!o.rows.empty()) {
    auto all = read_graphs(o.rows, words);
    if (static_cast<std::size_t>(o.number) >= all.size())
      throw triad::data_error(fmt::format("{} has {} rows; --row counts from 0", o.rows, all.size()));
    s.graph = std::move(all[static_cast<std::size_t>(o.number)]);
  } else {
    chain_generator chains(0xe17);
    for (int i = 0; i <= o.number; ++i) s.graph = chains.next(o.k);
    s.graph = translated(std::move(s.graph), words);
  }
  for (int i = 0; i < s.graph.nodes; ++i)
    s.people.push_back(i < 26 ? std::string(1, static_cast<char>('A' + i)) : "P" + std::to_string(i));
  return s;
}

inline int explain(options const& o) {
  auto const file = triad::apps::open_run(o.run);
  auto const s = asked_story(o, graphs::words_of(file));
  graphs::explain(o, file, s.graph, s.people);
  return 0;
}

/// Chains as CSV files in the published format.
inline int generate(options const& o) {
  triad::apps::make_folder(o.out);
  auto const write = [&](std::string const& name, std::vector<int> const& lengths, int each, std::uint64_t seed) {
    chain_generator chains(seed);
    std::vector<kinship_graph> all;
    for (int const k : lengths)
      for (int i = 0; i < each; ++i) all.push_back(chains.next(k));
    auto const path = fmt::format("{}/{}.csv", o.out, name);
    write_graphs(path, all, generated_vocabulary(), name.ends_with("train") ? "train" : "test");
    fmt::print("{}  {} rows\n", path, all.size());
  };
  std::string name;
  for (int const k : o.lengths) name += fmt::format("{}1.{}", name.empty() ? "" : ",", k);
  write(name + "_train", o.lengths, o.count, o.seed);
  for (int k = 2; k <= 10; ++k)
    write(fmt::format("1.{}_test", k), {k}, o.test_size, o.seed + 1000000 + static_cast<std::uint64_t>(k));
  return 0;
}

struct task {
  static int main(int argc, char** argv) {
    return triad::apps::run_program<options>(
        "clutrr",
        "CLUTRR: how are two people of a family related?  An Edge Transformer learns it from short chains and answers "
        "long ones.",
        [](options& o) -> std::vector<triad::apps::verb> {
          return {
              {"train", "Train on a data set or on generated chains, and evaluate by chain length",
               [&o] { return train(o); }},
              {"evaluate", "Accuracy of a trained model by chain length", [&o] { return evaluate(o); }},
              {"predict", "Answer every question of a CSV file, or of the command line or standard input",
               [&o] { return predict(o); }},
              {"explain", "Show which middle people the attention used for one question", [&o] { return explain(o); }},
              {"generate", "Write generated chains as CSV files", [&o] { return generate(o); }}};
        },
        argc, argv);
  }
};

}  // namespace clutrr
