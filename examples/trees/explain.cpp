// explain, of every tree-to-tree program: the program that a machine runs on one tree, or the programs of a whole part.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "../apps/atomic_file.hpp"
#include "drawing.hpp"
#include "program.hpp"
#include "score.hpp"
#include "trained.hpp"

namespace trees {
namespace {

/// The row's source, and its target to compare with.
row chosen_row(program_options const& o, data_reader const& read) {
  if (!o.tree.empty()) return {triad::parse_tree(o.tree), {}};
  auto const data = read(true).data;
  auto const& part = part_called(data, o.split);
  if (static_cast<std::size_t>(o.row) > part.rows.size())
    throw triad::data_error("there is no row " + std::to_string(o.row) + " in " + part.name + ": it has " +
                            std::to_string(part.rows.size()));
  return part.rows[static_cast<std::size_t>(o.row) - 1];
}

void explain_one(trained& model, program_options const& o, data_reader const& read) {
  auto const given = chosen_row(o, read);
  auto const& positions = model.net->positions();
  auto const symbols = model.answer(given.source);
  std::vector<index_t> const answer(symbols.begin(), symbols.end());  // at every position, as evaluate counts
  auto const said = model.net->traced(true).front();
  auto const e = explain_trace(model.numbered(given.source), said, model.labels, positions, answer);
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

void explain_part(trained& model, program_options const& o, data_reader const& read) {
  constexpr std::size_t most_shown = 20;
  auto const data = read(true).data;
  auto const& part = part_called(data, o.split);
  auto const rows = model.placed(part);
  if (rows.size() == 0) throw triad::data_error("there is no row in " + part.name);
  tally own;
  auto const t = score_programs(*model.net, rows, model.labels, o.threshold, own);
  auto const of_rows = [&](std::int64_t some) { return std::to_string(some) + " of " + std::to_string(t.rows); };
  fmt::print("{}: the machine is right about {} rows, the likeliest choices of its steps about {}\n", part.name,
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

int explain(program_options& o, data_reader const& read) {
  bool const one = !o.tree.empty() || o.row > 0;
  if (!one && !(o.json.empty() && o.dot.empty() && o.svg.empty()))
    throw triad::data_error(
        "--json, --dot and --svg are about one tree: give it with --tree, or choose one with --split and --row");
  trained model(o, one ? 1 : 16);
  if (one)
    explain_one(model, o, read);
  else
    explain_part(model, o, read);
  return 0;
}

}  // namespace trees
