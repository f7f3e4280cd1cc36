// The verb `explain` of all tree-to-tree programs.  It shows the program that a machine runs on one tree, or the
// programs for all rows of a part of the data.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "drawing.hpp"
#include "program.hpp"
#include "read.hpp"
#include "report.hpp"
#include "score.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "steps_page.hpp"
#include "trained.hpp"

namespace triad::programs::trees {
namespace {

/// Returns the row to explain.  If --tree gives the source, the target is empty.
row chosen_row(program_options const& o, data_reader const& read) {
  if (!o.tree.empty()) return {tree_from(o.tree, o.binarise), {}};
  auto const data = read(true).data;
  auto const& part = part_called(data, o.split);
  say("{}", what_is_left_out(part));
  if (static_cast<std::size_t>(o.row) > part.rows.size())
    refuse("there is no row {} in {}: it has {}", o.row, part.name, part.rows.size());
  return part.rows[static_cast<std::size_t>(o.row) - 1];
}

void explain_one(trained& model, program_options const& o, data_reader const& read) {
  refuse_given(o, {"threshold"}, "the programs of all rows: leave --tree and --row out");
  auto const given = chosen_row(o, read);
  auto const& positions = model.net->positions();
  auto const symbols = model.answer(given.source);
  std::vector<index_t> const answer(symbols.begin(), symbols.end());  // the symbol at every position
  auto const trace = model.net->traced(true).front();
  auto const e = explain_trace(model.numbered(given.source), trace, model.labels, positions, answer);
  say("{}", to_text(e));
  std::string verdict;
  if (!given.target.empty())
    verdict = answer == symbols_of(model.numbered(given.target), positions)
                  ? std::string("the machine's answer is right")
                  : "the right tree is " + to_text(given.target);
  if (!verdict.empty()) say("{}\n", verdict);
  for (auto const& [path, content] : {std::pair(o.json, to_json(e)), {o.dot, to_dot(e)}, {o.svg, to_svg(e)}}) {
    if (path.empty()) continue;
    first_writes(path, content);
    say("{}\n", path);
  }
  if (o.html.empty()) return;
  write_page(o.html, steps_page(e, positions, model.labels, verdict));
  say("{}\n", o.html);
}

void explain_part(trained& model, program_options const& o, data_reader const& read) {
  constexpr std::size_t most_shown = 20;
  auto const data = read(true).data;
  auto const& part = part_called(data, o.split);
  say("{}", what_is_left_out(part));
  auto const rows = model.placed(part);
  if (rows.size() == 0) refuse("there is no row in {}", part.name);
  tally own;
  auto const t = score_programs(*model.net, rows, model.labels, o.threshold, own);
  auto const of_rows = [&](std::int64_t some) { return std::to_string(some) + " of " + std::to_string(t.rows); };
  say("{}: the machine is right about {} rows, the likeliest choices of its steps about {}\n", part.name,
      of_rows(own.whole), of_rows(t.discrete));
  fmt::print(
      "a program, each choice of weight {:.2f} or more: {} rows; agrees with the machine: {} of them; right: {}\n",
      o.threshold, of_rows(t.extracted), t.agreeing, t.correct);
  fmt::print("{} distinct programs{}\n", t.programs.size(),
             t.programs.size() > most_shown ? "; the most frequent:"
             : t.programs.empty()           ? ""
                                            : ":");
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (auto const& [text, count] : t.programs) order.emplace_back(count, text);
  std::stable_sort(order.begin(), order.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
  if (order.size() > most_shown) order.resize(most_shown);
  for (auto const& [count, text] : order) say("{:>6}  {}\n", count, text);
}

/// Returns the folder of a run.  `run` is that folder, or a checkpoint in it.
std::string folder_of(std::string const& run) {
  namespace fs = std::filesystem;
  if (fs::is_directory(run)) return run;
  auto const parent = fs::path(run).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string choices_of_run(std::string const& run) { return folder_of(run) + "/" + choices_name; }

void explain_training(program_options const& o) {
  bool const about_a_tree = !o.tree.empty() || o.row > 0 || !o.json.empty() || !o.dot.empty();
  if (about_a_tree || o.given.contains("split") || o.given.contains("threshold"))
    refuse("--training is about a whole run: it goes without --tree, --split, --row, --threshold, --json and --dot");
  expect_one_run(o.run);
  auto const path = choices_of_run(o.run);
  if (!std::filesystem::exists(path))
    refuse("there is no {}: train writes it after every epoch, and this run has none or was made before it did", path);
  auto const all = read_choices(path);
  say("{}", to_text(all));
  if (!o.svg.empty()) {
    first_writes(o.svg, to_svg(all));
    say("{}\n", o.svg);
  }
  if (o.html.empty()) return;
  write_page(o.html, training_page(all));
  say("{}\n", o.html);
}

}  // namespace

int explain(program_options& o, data_reader const& read) {
  std::vector<input_file> also_read;
  if (o.training) also_read.push_back({"the run's choices.jsonl", choices_of_run(o.run)});
  expect_free(o, {{"--json", o.json}, {"--dot", o.dot}, {"--svg", o.svg}, {"--html", o.html}}, also_read);
  if (o.training) {
    explain_training(o);
    return 0;
  }
  expect_one_way({{"--tree", !o.tree.empty()}, {"--split with --row", o.row > 0 || o.given.contains("split")}});
  bool const one = !o.tree.empty() || o.row > 0;
  if (!one && !(o.json.empty() && o.dot.empty() && o.svg.empty() && o.html.empty()))
    refuse(
        "--json, --dot, --svg and --html are about one tree: give it with --tree, or choose one with --split and "
        "--row");
  trained model(o, one ? 1 : 16);
  if (one)
    explain_one(model, o, read);
  else
    explain_part(model, o, read);
  return 0;
}

}  // namespace triad::programs::trees
