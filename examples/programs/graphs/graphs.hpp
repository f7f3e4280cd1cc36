// The program graphs: answers questions about pairs of nodes of labelled graphs.  You train it on your own data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "direction.hpp"
#include "read.hpp"
#include "shared/cli/say.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/given_answers.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/data/questions.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/permute.hpp"

namespace triad::programs::graphs {

struct own_options : options {
  programs::questions questions;
  std::string by;              // evaluate: the member of the lines that groups the questions; or "path"
  std::string file;            // inspect, explain
  int row = 1;                 // explain: the number of a graph in the file, from 1
  bool probabilities = false;  // predict

  own_options() { layers = 6, width = 64, heads = 4, dropout = 0.1, batch = 32, epochs = 30, validation = 0.1; }
  void each(option_list& f) override {
    f("program", &program, "").one_of({program}).hidden().free();
    f("preset", &preset,
      "quick: a minute or two for some thousand small graphs on two processors; smoke: a few seconds, to try a data "
      "set; it learns nothing")
        .one_of({"quick", "smoke"})
        .free();
    f("data", &data, "Folder with train.jsonl, maybe dev.jsonl, and test.jsonl or several test_NAME.jsonl")
        .also({"evaluate"})
        .path();
    options::each(f);
    f("by", &by,
      "Accuracy by a member of the lines, such as kind; or by path: the fewest edges from one node asked about to the "
      "other")
        .only({"evaluate"});
    questions.each(f, "A graph, as a line of the data without its target");
    f("probabilities", &probabilities, "Also the target's \"probability\", and \"probabilities\" of the five likeliest")
        .only({"predict"});
    f("question", &questions.given, "A graph, as a line of the data").only({"explain"}).positional();
    f("file", &file, "A file of graphs").only({"explain"}).existing_file();
    f("row", &row, "Which graph of the file, from 1").only({"explain"}).positive();
    f("out", &out, "Folder for proof.svg").only({"explain"}).file_or_folder();
    f("file", &file, "A file of graphs").only({"inspect"}).positional().required().existing_file();
  }
};

/// Sets the defaults of o.preset.
///   quick   for some thousand small graphs of your own
inline void apply_preset(own_options& o) {
  if (o.preset == "quick") {
    o.layers = 4;
    o.warmup = 50;
    o.epochs = 10;
  }
  if (o.preset == "smoke") {
    o.layers = 2;
    o.width = 16;
    o.heads = 2;
    o.dropout = 0;
    o.warmup = 0;
    o.epochs = 2;
  }
}

/// Returns the likeliest target, its probability, and the probabilities of the five likeliest targets.
inline json_members likeliest_targets(std::vector<double> const& probabilities, vocabulary const& words) {
  constexpr std::size_t most = 5;
  auto const order =
      order_by(probabilities.size(), [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  auto all = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
    all[words.target_name(static_cast<int>(order[i]))] = four_digits(probabilities[order[i]]);
  return {{"target", words.target_name(static_cast<int>(order.front()))},
          {"probability", four_digits(probabilities[order.front()])},
          {"probabilities", std::move(all)}};
}

/// Prints each line with its answer added as "target".
inline int predict(own_options const& o) {
  o.questions.expect_one_way();
  auto const file = open_run(o.run);
  auto const words = words_of(file);
  answerer ask(o, file);
  direction_of_questions directions;
  given_answers targets("a target");
  int const status = o.questions.answer(
      o.program,
      [&](std::string const& line) {
        auto given = read_json_line(line);
        auto const target = given_answer(given, "target");
        given.erase("target");  // the answer replaces it
        auto const graph = numbered(read_graph(given, false), words);
        directions.add(graph, [&] { return o.questions.place(); });
        auto const members = o.probabilities ? likeliest_targets(ask.probabilities(graph), words)
                                             : json_members{{"target", words.target_name(ask(graph))}};
        answer(with_members(line, members) + "\n");
        targets.add(!target.is_null(), target == nlohmann::json(members.front().second));
      },
      true);
  note(o.program, directions.note());
  note(o.program, targets.note());
  return status;
}

inline int explain(own_options const& o) {
  if (o.questions.given.empty() == o.file.empty() || o.questions.given.size() > 1)
    refuse("explain needs one graph: a line of the data as an argument, or --file and --row");
  written_graph g;
  if (o.file.empty()) {
    refuse_given(o, {"row"}, "--file: leave it out");
    g = read_graph(read_json_line(o.questions.given.front()), false);
  } else {
    auto const all = read_graphs(o.file, false);
    if (static_cast<std::size_t>(o.row) > all.size())
      refuse("{} has {} graphs; --row counts from 1", o.file, all.size());
    g = all[static_cast<std::size_t>(o.row) - 1];
  }
  std::vector<std::string> names;
  for (int i = 0; i < g.nodes; ++i)
    names.push_back(g.node_labels.empty() ? std::to_string(i)
                                          : fmt::format("{} ({})", i, g.node_labels[static_cast<std::size_t>(i)]));
  auto const file = open_run(o.run);
  explain(o, file, numbered(g, words_of(file)), names);
  return 0;
}

/// Returns the verbs of a program.  They use the data of --data, or the data of `made` if --data is not given.
inline std::vector<verb> verbs_of(own_options& o, std::function<data_set()> const& made) {
  auto const train_on = [&o, made] {
    return train(o, o.data.empty() ? made() : read_training(o.data),
                 {.no_tests = "give a folder with test.jsonl, more lines, or a larger --validation"});
  };
  auto const evaluate = [&o, made] {
    auto const own = o.data.empty() ? made() : data_set();
    auto const file = open_run(o.run);
    auto const words = words_of(file);
    if (o.data.empty() && own.words != words)
      refuse(
          "{}: it was trained on other labels than those of this program's own data; give the data to ask with --data",
          o.run);
    bool const by_member = !o.by.empty() && o.by != "path";
    if (by_member && o.data.empty()) refuse("--by {} asks lines of a file, and these graphs are made: take path", o.by);
    auto const tests = o.data.empty() ? own.tests : read_tests(o.data, words, by_member ? o.by : std::string());
    graphs::evaluate(o, file, o.by == "path" ? by_path(tests) : tests);
    return 0;
  };
  return {
      {"train", "Train, and print the accuracy on each test file", train_on},
      {"evaluate", "Accuracy of a trained model on each test file", evaluate},
      {"predict", "Answer graphs of the command line, of a file, or of standard input", [&o] { return predict(o); }},
      {"explain", "Show by way of which nodes the attention found one answer", [&o] { return explain(o); }},
      {"inspect", "Say what a file of graphs holds", [&o] { return inspect(o.file), 0; }}};
}

}  // namespace triad::programs::graphs
