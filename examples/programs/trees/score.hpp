// Scores a machine's answers: whole trees, single nodes, and extracted programs.
// SPDX-License-Identifier: Apache-2.0
//
//   whole       the symbol at every position of the tree is right, as in the released program
//   partial     right filled positions / (filled positions + empty positions wrongly filled), as released
//   discrete    the likeliest choices of every step, run as a program on trees of symbols, give the right tree
//   extracted   these choices count as a program: all on which their result depends have at least the weight
// `threshold`
//   agreeing    the result of the extracted program equals the machine's own answer at every position
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "placed.hpp"
#include "shared/backend/in_batches.hpp"
#include "triad/tree/placement.hpp"
#include "triad/tree/program_trace.hpp"

namespace triad::programs::trees {

struct tally {
  std::int64_t rows = 0, whole = 0, right_nodes = 0, judged_nodes = 0;

  double accuracy() const { return part(whole, rows); }
  double partial() const { return part(right_nodes, judged_nodes); }
  static double part(std::int64_t some, std::int64_t all) {
    return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
  }

  /// Adds a row to the scores.  `answer` has the symbol at each position.
  void add(placed_tree target, std::span<index_t const> answer) {
    std::int64_t filled = 0, found = 0;
    for (auto const symbol : answer) filled += symbol != 0 ? 1 : 0;
    std::int64_t both = 0;  // number of positions with a node in both trees
    for (auto const& node : target) {
      auto const symbol = answer[static_cast<std::size_t>(node.position)];
      both += symbol != 0 ? 1 : 0;
      found += symbol == node.filler ? 1 : 0;
    }
    auto const nodes = static_cast<std::int64_t>(target.size()), stray = filled - both;
    ++rows;
    whole += found == nodes && stray == 0 ? 1 : 0;
    right_nodes += found;
    judged_nodes += nodes + stray;
  }
};

struct program_tally {
  std::int64_t rows = 0, discrete = 0, extracted = 0, agreeing = 0, correct = 0;  // correct: of the extracted programs
  double least = 1;                                // the smallest weight of all programs' choices
  std::map<std::string, std::int64_t> programs{};  // how often each program was extracted
};

/// Returns the tree that has these symbols at its positions; symbols_of() is the inverse.
inline numbered_tree tree_of(std::span<index_t const> symbols, tree_positions<> const& positions) {
  return tree_of_labels(positions, vec<index_t const>(symbols.data(), positions.count()));
}
inline std::vector<index_t> symbols_of(placed_tree tree, tree_positions<> const& positions) {
  std::vector<index_t> symbols(static_cast<std::size_t>(positions.count()));
  for (auto const& node : tree) symbols[static_cast<std::size_t>(node.position)] = node.filler;
  return symbols;
}
inline std::vector<index_t> symbols_of(numbered_tree const& tree, tree_positions<> const& positions) {
  std::vector<index_t> symbols(static_cast<std::size_t>(positions.count()));
  place_labels(positions, tree, vec<index_t>(symbols.data(), positions.count()));
  return symbols;
}

/// Runs the machine on the first `count` rows, in batches.  For each batch, calls between(number of the first row,
/// number of rows), and then f(row, answer) for each row of the batch.  `row` is the number of the row.
template <class F, class Between>
void answer_all(machine& net, placed_rows const& rows, index_t count, F&& f, Between&& between) {
  auto const width = static_cast<std::size_t>(net.positions().count());
  for (index_t next = 0; next < count;) {
    net.clear();
    index_t const first = next;
    while (next < count && net.add(rows[next])) ++next;
    auto const answers = net.infer();
    between(first, next - first);
    for (index_t i = first; i < next; ++i) f(i, answers.subspan(static_cast<std::size_t>(i - first) * width, width));
  }
}

/// Scores the first `most` rows, or all rows if `most` is 0.
inline tally score(machine& net, placed_rows const& rows, index_t most = 0) {
  tally t;
  auto const width = static_cast<std::size_t>(net.positions().count());
  in_batches(
      net, static_cast<std::size_t>(most > 0 ? std::min(most, rows.size()) : rows.size()),
      [&](std::size_t i) { return net.add(rows[static_cast<index_t>(i)]); },
      [](std::size_t i) { return "row " + std::to_string(i) + " has no room in a batch of its own"; },
      [&] {
        auto const found = net.infer();
        return std::vector<index_t>(found.begin(), found.end());
      },
      [&](std::size_t first, std::size_t last, std::vector<index_t> const& found) {
        for (auto i = first; i < last; ++i)
          t.add(rows[static_cast<index_t>(i)].target, std::span(found).subspan((i - first) * width, width));
      });
  return t;
}

/// Scores the programs of all rows, and compares their results with the machine's answers.  Adds the scores of the
/// machine's answers to `own`.
inline program_tally score_programs(machine& net, placed_rows const& rows, vocabulary const& labels, double threshold,
                                    tally& own) {
  program_tally t;
  std::vector<tree_trace> traces;
  index_t first = 0;
  auto const& positions = net.positions();
  auto const judge = [&](index_t i, std::span<index_t const> answer) {
    auto const& trace = traces[static_cast<std::size_t>(i - first)];
    auto const p = likeliest(trace);
    auto const memory = execute(p, tree_of(symbols_of(rows[i].source, positions), positions), positions.depth());
    auto const result = symbols_of(memory.back(), positions);
    bool const correct = result == symbols_of(rows[i].target, positions);
    own.add(rows[i].target, answer);
    ++t.rows;
    t.discrete += correct ? 1 : 0;
    double const least = certainty(trace, p, memory);
    if (least < threshold) return;
    ++t.extracted;
    t.least = std::min(t.least, least);
    t.correct += correct ? 1 : 0;
    t.agreeing += std::equal(result.begin(), result.end(), answer.begin(), answer.end()) ? 1 : 0;
    ++t.programs[to_text(p, labels)];
  };
  answer_all(net, rows, rows.size(), judge, [&](index_t begin, index_t) {
    first = begin;
    traces = net.traced(false);
  });
  return t;
}

}  // namespace triad::programs::trees
