// Golden files of kind dtm_data: trees as text, the vocabulary, and the trees as arrays of numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "family.hpp"
#include "triad/tree/placement.hpp"
#include "triad/tree/s_expression.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad::golden {

struct dtm_data {
  static constexpr std::string_view kind = "dtm_data";

  template <class T, backend Ex>
  static void check(Ex&, golden_file const& file, report& r) {
    r.remark("text is read on the host");
    tree_positions<> const positions(2, file.size("max_depth"));
    struct row {
      symbol_tree source, target;
    };
    std::vector<index_t> kept;
    std::vector<row> rows;
    vocabulary words;
    for (auto const& texts : file.json("rows")) {
      row const read{parse_tree(texts.at("source").get<std::string>()),
                     parse_tree(texts.at("target").get<std::string>())};
      kept.push_back(read.source.depth() <= positions.depth() && read.target.depth() <= positions.depth() ? 1 : 0);
      if (kept.back() == 0) continue;  // the labels of this row do not count
      words.insert(read.source);
      words.insert(read.target);
      rows.push_back(read);
    }
    r.integers("kept_rows", kept);
    same_texts(r, file, "ind2vocab", words.labels());
    same_trees(r, file, "input", positions, words, rows, &row::source);
    same_trees(r, file, "output", positions, words, rows, &row::target);
  }

 private:
  static void same_texts(report& r, golden_file const& file, std::string const& name,
                         std::vector<std::string> const& found) {
    auto const expected = file.json(name).get<std::vector<std::string>>();
    if (found.size() != expected.size())
      return r.fail(name + " has " + std::to_string(found.size()) + " entries; expected " +
                    std::to_string(expected.size()));
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] != expected[i])
        r.fail(name + ": entry " + std::to_string(i) + " is '" + found[i] + "', expected '" + expected[i] + "'");
  }

  /// Compares the numbers at all positions, and the text that the numbers represent.
  template <class Row>
  static void same_trees(report& r, golden_file const& file, std::string const& name, tree_positions<> const& positions,
                         vocabulary const& words, std::vector<Row> const& rows, symbol_tree Row::* side) {
    std::vector<index_t> all;
    std::vector<std::string> texts;
    for (auto const& one : rows) {
      std::vector<index_t> labels(static_cast<std::size_t>(positions.count()));
      vec<index_t> const array(labels.data(), positions.count());
      place_labels(positions, words.number(one.*side), array);
      all.insert(all.end(), labels.begin(), labels.end());
      texts.push_back(to_text(words.label(tree_of_labels(positions, array))));
    }
    r.integers(name + "_indices", all);
    same_texts(r, file, name + "_strings", texts);
  }
};

}  // namespace triad::golden
