// tree-transforms explain: the program that a machine runs on one tree, or the programs of a whole split.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "../apps/atomic_file.hpp"
#include "drawing.hpp"
#include "score.hpp"
#include "trained.hpp"
#include "verbs.hpp"

namespace tree_transforms {
namespace {

split split_called(std::string const& name) {
  return *std::find_if(splits.begin(), splits.end(),
                       [&](split s) { return name == name_of(s); });  // the command line takes no other name
}

/// The row's source, and its target to compare with.
row chosen_row(trained const& model, options const& o) {
  if (!o.tree.empty()) return {triad::parse_tree(o.tree), {}};
  auto const data = model.rows();
  auto const& rows = data[split_called(o.split)].rows;
  if (static_cast<std::size_t>(o.row) > rows.size())
    throw triad::data_error("there is no row " + std::to_string(o.row) + " in " + o.split + ": it has " +
                            std::to_string(rows.size()));
  return rows[static_cast<std::size_t>(o.row) - 1];
}

void explain_one(trained& model, options const& o) {
  auto const given = chosen_row(model, o);
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
  fmt::print("{}", to_text(e));
  if (!given.target.empty())
    fmt::print("{}\n", answer == symbols_of(model.numbered(given.target), positions)
                           ? std::string("the machine's answer is right")
                           : "the right tree is " + triad::to_text(given.target));
  for (auto const& [path, content] : {std::pair(o.json, to_json(e)), {o.dot, to_dot(e)}, {o.svg, to_svg(e)}}) {
    if (path.empty()) continue;
    triad::apps::write_atomically(path, content);
    fmt::print("{}\n", path);
  }
}

void explain_split(trained& model, options const& o) {
  constexpr std::size_t most_shown = 20;
  auto const s = split_called(o.split);
  auto const rows = model.placed(model.rows()[s], s);
  if (rows.size() == 0) throw triad::data_error("there is no row in " + o.split);
  tally own;
  auto const t = score_programs(*model.net, rows, model.labels, o.threshold, own);
  auto const of_rows = [&](std::int64_t some) { return std::to_string(some) + " of " + std::to_string(t.rows); };
  fmt::print("{}: the machine is right about {} rows, the likeliest choices of its steps about {}\n", o.split,
             of_rows(own.whole), of_rows(t.discrete));
  fmt::print(
      "a program, each choice of weight {:.2f} or more: {} rows; agrees with the machine: {} of them; right: {}\n",
      o.threshold, of_rows(t.extracted), t.agreeing, t.right);
  fmt::print("{} distinct programs{}\n", t.programs.size(),
             t.programs.size() > most_shown ? "; the most frequent:"
             : t.programs.empty()           ? ""
                                            : ":");
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (auto const& [text, count] : t.programs) order.emplace_back(count, text);
  std::stable_sort(order.begin(), order.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
  if (order.size() > most_shown) order.resize(most_shown);
  for (auto const& [count, text] : order) fmt::print("{:>6}  {}\n", count, text);
}

}  // namespace

int explain(options const& o) {
  bool const one = !o.tree.empty() || o.row > 0;
  if (!one && !(o.json.empty() && o.dot.empty() && o.svg.empty()))
    throw triad::data_error(
        "--json, --dot and --svg are about one tree: give it with --tree, or choose one with --split and --row");
  trained model(o, one ? 1 : 16);
  if (one)
    explain_one(model, o);
  else
    explain_split(model, o);
  return 0;
}

}  // namespace tree_transforms
