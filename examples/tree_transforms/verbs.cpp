// tree-transforms evaluate, predict and generate: what a trained machine says, and rows to try it on.
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include <fmt/format.h>

#include <iostream>

#include "../apps/atomic_file.hpp"
#include "explanation.hpp"
#include "report.hpp"
#include "trained.hpp"

namespace tree_transforms {
namespace {

constexpr index_t batch_rows = 16;

symbol_tree transformed(trained& model, symbol_tree const& source) {
  triad::role_paths const paths(2);
  std::vector<placed_node> nodes;
  triad::each_role(model.numbered(source), paths, [&](index_t label, triad::role_code role) {
    nodes.push_back({paths.position(role), label});
  });
  model.net->clear();
  model.net->add({nodes, {}});
  return model.labels.label(tree_of(model.net->infer(), model.net->positions()));
}

void add_programs(triad::apps::text_table& table, split s, program_tally const& t) {
  table.row({title_of(s), percent(tally::part(t.discrete, t.rows)), std::to_string(t.extracted),
             t.extracted > 0 ? fmt::format("{:.3f}", t.least) : "-", std::to_string(t.agreeing),
             std::to_string(t.right), std::to_string(t.programs.size()), std::to_string(t.rows)});
}

}  // namespace

int evaluate(options const& o) {
  trained model(o, batch_rows);
  auto const data = model.rows();
  split_tallies found{};
  bool const programs = o.programs || o.discrete;
  triad::apps::text_table of_programs(
      {"", "likeliest choices", "programs", "least weight", "agree", "right", "distinct", "rows"});
  for (auto const s : splits) {
    if ((s == split::train && programs) || data[s].rows.empty()) continue;
    auto const rows = model.placed(data[s], s);
    auto& own = found[static_cast<std::size_t>(s)];
    if (programs)
      add_programs(of_programs, s, score_programs(*model.net, rows, model.labels, o.threshold, own));
    else
      own = score(*model.net, rows, s == split::train ? o.train_sample : 0);
  }
  fmt::print("{}", table_of(found));
  if (programs)
    fmt::print(
        "\nlikeliest choices: whole trees where each step's are run on trees of symbols; programs: rows where each of "
        "those that count has a weight of "
        "{:.2f} or more;\nagree: of these, rows where the program's tree is the machine's; right: where it is the "
        "right "
        "one\n\n{}",
        o.threshold, of_programs.text());
  return 0;
}

int predict(options const& o) {
  trained model(o, 1);
  auto const answer = [&](std::string const& line, triad::text_position const& where) {
    auto const source = triad::parse_tree(line, where);
    auto const target = transformed(model, source);
    if (o.as_json)
      fmt::print("{}\n", to_json_line({source, target}));
    else
      fmt::print("{}\n", shown(target));
  };
  if (!o.tree.empty()) {
    answer(o.tree, {});
    return 0;
  }
  // Whoever sends a thousand lines gets a thousand back: a line that is no tree, or not one for this machine, costs the
  // others nothing.
  bool failed = false;
  index_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    try {
      answer(line, {"standard input", number});
    } catch (triad::data_error const& e) {
      std::string what = e.what();
      if (!what.starts_with("standard input")) what = "standard input:" + std::to_string(number) + ": " + what;
      fmt::print(stderr, "{}: {}\n", o.program, what);
      if (o.as_json)
        fmt::print("{}\n", nlohmann::json{{"line", number}, {"error", what}}.dump(
                               -1, ' ', false, nlohmann::json::error_handler_t::replace));
      else
        fmt::print("\n");
      failed = true;
    }
  }
  return failed ? 1 : 0;
}

int generate(options& o) {
  settle(o);
  o.data.clear();
  o.depth = deepest_numbered;
  auto const data = load_data(o);
  triad::apps::make_folder(o.out);
  for (auto const s : splits) {
    std::string text;
    for (auto const& r : data[s].rows) text += to_json_line(r) + "\n";
    auto const path = o.out + "/" + name_of(s) + ".jsonl";
    triad::apps::write_atomically(path, text);
    fmt::print("{}  {} rows\n", path, data[s].rows.size());
  }
  return 0;
}

}  // namespace tree_transforms
