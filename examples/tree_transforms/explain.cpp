// tree-transforms explain: the program that a machine runs on one tree, or the programs of a whole split.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <utility>

#include "../common/atomic_file.hpp"
#include "commands.hpp"
#include "drawing.hpp"
#include "record.hpp"
#include "score.hpp"

namespace tree_transforms {
namespace {

split split_called(std::string const& name) {
  return *std::find_if(splits.begin(), splits.end(),
                       [&](split s) { return name == name_of(s); });  // the command line takes no other name
}

/// The row's source, and its target to compare with.
row chosen_row(trained const& model, query const& q) {
  if (!q.tree.empty()) return {triad::parse_tree(q.tree), {}};
  auto const data = model.rows();
  auto const& rows = data[split_called(q.split)].rows;
  if (static_cast<std::size_t>(q.row) > rows.size())
    throw triad::data_error("there is no row " + std::to_string(q.row) + " in " + q.split + ": it has " +
                            std::to_string(rows.size()));
  return rows[static_cast<std::size_t>(q.row) - 1];
}

void explain_one(trained& model, query const& q) {
  auto const given = chosen_row(model, q);
  auto const source = model.numbered(given.source);
  placed_rows rows;
  rows.add({given.source, given.source}, model.labels);
  model.net->clear();
  model.net->add(rows[0]);
  auto const& positions = model.net->positions();
  auto const symbols = model.net->infer();
  std::vector<index_t> const answer(symbols.begin(), symbols.end());  // at every position, as evaluate counts
  auto const said = model.net->traced(true).front();
  auto const e = explain_trace(source, said, model.labels, positions, answer);
  std::printf("%s", to_text(e).c_str());
  if (!given.target.empty())
    std::printf("%s\n", answer == symbols_of(model.numbered(given.target), positions)
                            ? "the machine's answer is right"
                            : ("the right tree is " + triad::to_text(given.target)).c_str());
  for (auto const& [path, content] : {std::pair(q.json, to_json(e)), {q.dot, to_dot(e)}, {q.svg, to_svg(e)}}) {
    if (path.empty()) continue;
    triad::examples::write_atomically(path, content);
    std::printf("%s\n", path.c_str());
  }
}

void explain_split(trained& model, query const& q) {
  constexpr std::size_t most_shown = 20;
  auto const s = split_called(q.split);
  auto const rows = model.placed(model.rows()[s], s);
  if (rows.size() == 0) throw triad::data_error("there is no row in " + q.split);
  tally own;
  auto const t = score_programs(*model.net, rows, model.labels, q.threshold, own);
  auto const of_rows = [&](std::int64_t some) { return std::to_string(some) + " of " + std::to_string(t.rows); };
  std::printf("%s: the machine is right about %s rows, the likeliest choices of its steps about %s\n", q.split.c_str(),
              of_rows(own.whole).c_str(), of_rows(t.discrete).c_str());
  std::printf(
      "a program, each choice of weight %.2f or more: %s rows; agrees with the machine: %lld of them; right: %lld\n",
      q.threshold, of_rows(t.extracted).c_str(), static_cast<long long>(t.agreeing), static_cast<long long>(t.right));
  std::printf("%zu distinct programs%s\n", t.programs.size(),
              t.programs.size() > most_shown ? "; the most frequent:"
              : t.programs.empty()           ? ""
                                             : ":");
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (auto const& [text, count] : t.programs) order.emplace_back(count, text);
  std::stable_sort(order.begin(), order.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
  if (order.size() > most_shown) order.resize(most_shown);
  for (auto const& [count, text] : order) std::printf("%6lld  %s\n", static_cast<long long>(count), text.c_str());
}

}  // namespace

int explain(options const& o, query const& q) {
  bool const one = !q.tree.empty() || q.row > 0;
  if (!one && !(q.json.empty() && q.dot.empty() && q.svg.empty()))
    throw triad::data_error(
        "--json, --dot and --svg are about one tree: give it with --tree, or choose one with --split and --row");
  trained model(q.checkpoint, o, one ? 1 : 16);
  if (one)
    explain_one(model, q);
  else
    explain_split(model, q);
  return 0;
}

}  // namespace tree_transforms
