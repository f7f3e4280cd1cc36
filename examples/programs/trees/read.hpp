// Reads and writes rows of trees as JSON lines, one object in each line.
// SPDX-License-Identifier: Apache-2.0
//
//   {"source": "( S ( NP ... ) ( VP ... ) )", "target": "( LF ( V ... ) ( ARGS ... ) )"}        gzipped or not
//
// Other members are ignored.  An error message has the file and the line, and the column if the error is in a tree.
// With --binarise, trees are in treebank notation: a node may have any number of children.  They are made binary.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "data.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/report/refuse.hpp"
#include "triad/tree/binarise.hpp"
#include "triad/tree/s_expression.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad::programs::trees {

/// Parses a tree.  If `binary`, the text is in treebank notation and the tree is made binary.  Throws data_error.
inline symbol_tree tree_from(std::string const& text, bool binary, text_position const& where = {}) {
  return binary ? binarise(parse_treebank_tree(text, where)) : parse_tree(text, where);
}

/// Returns the tree `name` of a line.  `object` is the line as JSON.  Throws data_error.
inline symbol_tree tree_in(nlohmann::json const& object, std::string const& line, char const* name, bool binary) {
  auto const text = member<std::string>(object, name, "a tree as text");
  // Finds the text of the tree in the line, so that error messages have the column that an editor shows.  This does not
  // find a text with escapes.
  auto const key = line.find('"' + std::string(name) + '"');
  auto const quote = key == std::string::npos ? key : line.find('"' + text + '"', key + std::string(name).size() + 2);
  bool const there = quote != std::string::npos;
  text_position where;
  if (there) where.column = static_cast<index_t>(quote) + 2;
  try {
    auto tree = tree_from(text, binary, where);
    for (auto const& node : tree.nodes())
      if (node.label == empty_label) refuse("'<empty>' is a place without a node, no label of one");
    return tree;
  } catch (data_error const& e) {
    refuse("{}{}{}", name, std::string(there ? ", " : " without its escapes, "), e.what());
  }
}

inline row row_of(nlohmann::json const& object, std::string const& line, bool binary = false) {
  return {tree_in(object, line, "source", binary), tree_in(object, line, "target", binary)};
}

/// Returns the object of a question's line; null if the line is the tree itself.  An object need not have a target.
inline nlohmann::json question_of(std::string const& line) {
  return line.starts_with('{') ? read_json_line(line) : nlohmann::json();
}

/// Returns the tree of a question.  `question` is question_of(line).
inline symbol_tree source_of(nlohmann::json const& question, std::string const& line, bool binary = false) {
  return question.is_null() ? tree_from(line, binary) : tree_in(question, line, "source", binary);
}

/// Returns a row as one line of JSON.
inline std::string to_json_line(row const& r) {
  nlohmann::ordered_json json;
  json["source"] = to_text(r.source);
  json["target"] = to_text(r.target);
  return json.dump();
}

/// Appends all rows of a file to a part, and returns the part.
inline part read_rows(std::string const& path, depth_limit const& limit = {}, part to = {}, bool binary = false) {
  read_json_lines(path, [&](nlohmann::json const& object, std::string const& line) {
    limit.add(row_of(object, line, binary), to);
  });
  bool const may_be_empty = to.skipped == 0 || (limit.trained && limit.skip);  // if so, evaluate reports the empty part
  if (!to.rows.empty() || may_be_empty) return to;
  refuse("{}: each of the {} rows that count has a tree deeper than {}: {}", path, to.skipped, limit.most,
         limit.advice_without_rows());
}

}  // namespace triad::programs::trees
