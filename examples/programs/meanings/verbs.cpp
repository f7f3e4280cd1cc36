// The verbs evaluate, predict, explain and generate.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "commands.hpp"
#include "drawn.hpp"
#include "explained.hpp"
#include "explained_page.hpp"
#include "json_meaning.hpp"
#include "program.hpp"
#include "query.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/record.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/csv.hpp"
#include "shared/data/given_answers.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/data/new_data.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/page.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/table.hpp"
#include "triad/batches/room_for.hpp"

namespace triad::programs::meanings {
namespace {

/// Reads the trained model.  capacity(words, slots) returns the sizes of the largest batch.
trained<network> trained_network(options const& o, checkpoint const& file,
                                 std::function<sentence_graph_dims(vocabulary const&, int slots)> const& capacity) {
  trained<network> model(o, file, [=](vocabulary const& v, options const& of_run) {
    return network_room{tables_of(v, of_run), capacity(v, of_run.slots), false};
  });
  if (o.given.contains("threshold")) {
    model.net->threshold = o.threshold;
    model.net->has_chosen_threshold = false;
  }
  return model;
}

/// Says which threshold was chosen on dev, if the command does not give another.
void say_threshold(options const& o, network const& net) {
  if (net.has_chosen_threshold)
    note(o.program,
         fmt::format("labels are in the graph from probability {:g} on, which was chosen on dev; --threshold "
                     "gives another",
                     net.threshold));
}

/// Returns sizes for 64 of the rows, and for each row alone.
std::function<sentence_graph_dims(vocabulary const&, int)> room_of(data_set const& data) {
  return [&data](vocabulary const& v, int slots) {
    std::vector<sentence_graph_dims> all;
    each_part(data, [&](auto const&, auto const& rows) {
      for (auto const& row : rows) all.push_back(dims_of(row.graph.tokens, v, slots));
    });
    return room_for(all, std::min<std::size_t>(all.size(), 64), [](auto const& d) { return d; });
  };
}

/// Returns a table of precision, recall and F1 for each label.
std::string table_of(std::string const& what, std::map<std::string, overlap> const& all) {
  text_table table({what, "given", "precision", "recall", "F1"});
  for (auto const& [name, of] : all)
    table.row({name, std::to_string(of.given), percent(of.precision()), percent(of.recall()), percent(of.f1())});
  return table.text();
}

std::string labels_csv(std::string const& part, graph_tally const& t) {
  std::string text;
  for (auto const& [kind, all] : {std::pair("edge", &t.by_edge), {"node", &t.by_label}})
    for (auto const& [name, of] : *all)
      text += fmt::format("{},{},{},{},{},{}\n", csv_cell(part), kind, csv_cell(name), of.given, of.found, of.both);
  return text;
}

int evaluate(options const& o) {
  expect_other_folder(o.out, o.data, "graphs");
  auto const data = data_of(o, false);
  std::string const ending = ending_of_answers(data.format);
  std::vector<std::string> files{"confusion.csv", "labels.csv"};
  each_part(data, [&](auto const& name, auto const&) { files.push_back(name + ending); });
  expect_free_in_folder(o, files);
  auto const model = trained_network(o, open_run(o.run), room_of(data));
  say_threshold(o, *model.net);
  if (!o.out.empty()) make_folder(o.out);
  confusion labels;
  std::string csv = "part,of,label,given,found,both\n";
  each_part(data, [&](std::string const& name, std::vector<given_row> const& rows) {
    graph_tally t;
    auto text = head_of_answers(data.format);
    predict_all(*model.net, rows, model.words, [&](given_row const& row, meaning const& predicted, found_graph const&) {
      t.add(row, predicted, is_right(data.format, row, predicted), &labels, name);
      if (o.out.empty()) return;
      auto written = predicted;
      written.kind = row.graph.kind;
      text += answer_lines(data.format, row, written);
    });
    say("{}  exact match {}  edges {}  pairs {}  labels {}  (F1; {} sentences)\n", name, percent(t.exact_match()),
        percent(t.edges.f1()), percent(t.pairs.f1()), percent(t.labels.f1()), t.rows);
    if (t.by_kind.size() > 1) {
      text_table kinds({"kind", "exact match", "sentences"});
      for (auto const& [kind, of] : t.by_kind)
        kinds.row({kind.empty() ? "-" : kind, percent(of.exact_match()), std::to_string(of.rows)});
      say("{}", kinds.text());
    }
    if (o.confusion) say("{}", table_of("edge", t.by_edge));
    if (o.confusion && !t.by_label.empty()) say("{}", table_of("label of a node", t.by_label));
    csv += labels_csv(name, t);
    if (!o.out.empty()) first_writes(o.out + "/" + name + ending, text);
  });
  if (o.confusion) fmt::print("{}", labels.table());
  if (!o.out.empty()) {
    first_writes(o.out + "/labels.csv", csv);
    first_writes(o.out + "/confusion.csv", labels.csv());
  }
  return 0;
}

/// Throws data_error if the model does not know a word, unless unknown words are read as <unk>.
std::vector<std::string> const& checked_words(std::vector<std::string> const& tokens, vocabulary const& v,
                                              options const& o) {
  if (!o.unknown)
    for (auto const& token : tokens)
      if (v.word(token) == dictionary::unknown)
        refuse(
            "\"{}\" is not one of the {} words that the model knows; with --unknown it is read as <unk>, as evaluate "
            "reads it",
            shortened(token), v.words().size() - dictionary::specials);
  return tokens;
}

/// Returns the tokens of a question in plain text.  Questions of CFQ have tokens of their own.
std::vector<std::string> tokens_of_text(std::string const& text, vocabulary const& v) {
  return v.patterns().empty() ? text::words(text) : words_of_question(text);
}

/// A model with memory for the largest question so far.
class answering {
 public:
  explicit answering(options const& o) : options_(o), file_(open_run(o.run)), model_(with_room(64)) {
    say_threshold(o, net());
  }

  vocabulary const& words() const { return model_.words; }
  network& net() { return *model_.net; }
  /// Returns the graph and its probabilities.
  std::pair<meaning, found_graph> operator()(std::vector<std::string> const& tokens) {
    constexpr std::size_t most = 512;
    if (tokens.empty()) refuse("the sentence has no words");
    if (tokens.size() > most) refuse("the sentence has {} tokens; at most {} are read: split it", tokens.size(), most);
    if (tokens.size() > room_) model_ = with_room(std::min(most, std::max(tokens.size(), 2 * room_)));
    net().clear();
    if (!net().add(question_of(checked_words(tokens, words(), options_), words())))
      refuse("a sentence of {} tokens is longer than there is room for", tokens.size());
    auto const& found = net().infer().front();
    return {answer_of(tokens, found, words()), found};
  }

 private:
  trained<network> with_room(std::size_t tokens) {
    auto const n = static_cast<index_t>(tokens);
    auto model = trained_network(options_, file_,
                                 [=](vocabulary const&, int slots) { return sentence_graph_of(n, slots, n + slots); });
    room_ = tokens;  // after the memory is there: if it is not, the old model stays
    return model;
  }

  options const& options_;
  checkpoint file_;
  std::size_t room_ = 0;
  trained<network> model_;
};

int predict(options& o) {
  o.questions.expect_one_way({{"--sentence", !o.sentence.empty()}});
  answering model(o);
  if (o.format == "query" && model.words().patterns().empty())
    refuse(
        "--format query is for runs on queries, and this run was trained on other graphs: give --format json or dot");
  given_answers graphs("a graph");
  auto const one = [&](std::string const& line) {
    bool const is_json = line.starts_with('{');
    if (!is_json) expect_plain_question(line);
    auto const question = is_json ? read_json_line(line) : nlohmann::json();
    auto const tokens = is_json ? tokens_of(question) : tokens_of_text(line, model.words());
    auto const [graph, found] = model(tokens);
    if (is_json) {
      bool const had = question.contains("edges") || question.contains("node_labels");
      graphs.add(had, had && same_graph(meaning_of(question), graph));
    }
    if (o.format == "query")
      programs::answer(query_of(graph) + "\n");
    else if (o.format == "dot")
      programs::answer(dot_of(graph));
    else
      programs::answer((is_json ? with_members(line, answer_members(graph)) : json_line(graph)) + "\n");
  };
  if (!o.sentence.empty()) {
    one(o.sentence);
    return 0;
  }
  int const status = o.questions.answer(o.program, one, o.format == "json");
  note(o.program, graphs.note());
  return status;
}

int explain(options& o) {
  expect_plain_question(o.sentence);
  expect_free_in_folder(o, {"graph.dot"});
  answering model(o);
  auto const tokens = tokens_of_text(o.sentence, model.words());
  if (tokens.empty()) refuse("explain needs a sentence: --sentence \"Did M0 marry M1\"");
  auto const [graph, found] = model(tokens);
  auto const causes = model.net().causes();
  auto const e = explained(graph, found, causes, model.words(), model.net().threshold);
  auto const table = [&](std::vector<std::string> header) {
    if (e.has_predicates) header.emplace_back("because of");
    return text_table(header);
  };
  auto const row = [&](std::vector<std::string> cells, auto const& of) {
    cells.push_back(fmt::format("{:.3f}", of.probability));
    if (e.has_predicates) cells.push_back(text_of(of.by, graph));
    return cells;
  };
  auto edges = table({"from", "edge", "to", "probability"});
  for (auto const& one : e.edges) edges.row(row({name_of(graph, one.from), one.label, name_of(graph, one.to)}, one));
  say("{}", edges.text());
  auto labels = table({"node", "label", "probability"}), words = table({"is one node", "probability"});
  bool has_labels = false, has_words = false;
  for (auto const& one : e.labels) {
    auto const name = name_of(graph, one.node);
    if (one.label.empty())
      has_words = true, words.row(row({name}, one));
    else
      has_labels = true, labels.row(row({name, one.label}, one));
  }
  if (has_labels) say("\n{}", labels.text());
  if (!e.removed.empty()) {
    text_table removed({"node", "label that is left out", "without edges", "with them", "because of edges"});
    for (auto const& one : e.removed)
      removed.row({name_of(graph, one.node), one.label, fmt::format("{:.3f}", one.before),
                   fmt::format("{:.3f}", one.after), text_of(one.by)});
    say("\n{}", removed.text());
  }
  if (has_words) say("\n{}", words.text());
  if (!graph.label.empty()) say("\nthe graph: {}  {:.3f}\n", graph.label, e.graph_probability);
  for (auto const& one : e.taken)
    if (!graph.nodes[static_cast<std::size_t>(one.node)].is_slot)
      say("{} takes over the roles of {}  {:.2f}\n", name_of(graph, one.node), name_at(graph, one.token),
          one.probability);
  if (!causes.absent.empty()) {
    text_table anchors({"slot", "has the roles of", "absent"});
    for (std::size_t k = 0; k < causes.absent.size(); ++k)
      anchors.row(
          {fmt::format("slot {}", k), text_of(anchors_of(causes, k), graph), fmt::format("{:.2f}", causes.absent[k])});
    say("\n{}", anchors.text());
  }
  if (!o.out.empty()) {
    make_folder(o.out);
    first_writes(o.out + "/graph.dot", dot_of(graph));
    say("{}/graph.dot\n", o.out);
  }
  if (o.html.empty()) return 0;
  write_page(o.html, page_of(e, model.net().threshold));
  say("{}\n", o.html);
  return 0;
}

/// Writes commands with their graphs.  Commands of tests have more clauses than any command of training.
int generate(options const& o) {
  constexpr std::uint64_t dev_seed = 0xdef, test_seed = 0x7e57;
  for (auto const seed : {dev_seed, test_seed}) refuse_seed(o, seed, "commands of dev and test");
  constexpr int tested = 200;
  std::vector<new_file> files;
  std::set<std::string> all;  // no command is in two files
  auto const add = [&](char const* name, std::uint64_t seed, int count, int first, int last) {
    command_generator from(seed);
    std::string text;
    for (int i = 0; i < count;) {
      auto const line = json_line(from.next(first + i % (last - first + 1)));
      if (!all.insert(line).second) continue;
      text += line + "\n";
      ++i;
    }
    files.push_back({std::string(name) + ".jsonl", std::move(text), fmt::format("{} commands", count)});
  };
  add("train", o.seed, o.count, 1, 2);
  add("dev", dev_seed, tested, 1, 2);
  add("test", test_seed, tested, 3, 4);
  write_data(o.out, files);
  return 0;
}

}  // namespace

std::vector<verb> verbs_of(options& o) {
  return {
      {"train", "Train, and predict the graphs of dev and test", [&o] { return train(o); }},
      {"evaluate", "Exact match, and precision and recall by label, of a trained model", [&o] { return evaluate(o); }},
      {"predict", "The graph of a sentence, of a file's, or of each line of standard input",
       [&o] { return predict(o); }},
      {"explain", "Which token makes which edge, and how probable each edge is", [&o] { return explain(o); }},
      {"generate", "Write commands with their graphs, to try the program", [&o] { return generate(o); }}};
}

}  // namespace triad::programs::meanings
