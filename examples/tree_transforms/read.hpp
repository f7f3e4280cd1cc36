// Reads rows of trees as they are published, one JSON object a line, and writes them.
// SPDX-License-Identifier: Apache-2.0
//
//   {"source": "( S ( NP ... ) ( VP ... ) )", "target": "( LF ( V ... ) ( ARGS ... ) )"}        gzipped or not
//
// Other fields are not read.  What is wrong is told with file and line, and with the column of a tree that is none.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rows.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/gz_lines.hpp"
#include "triad/tree/s_expression.hpp"
#include "triad/tree/vocabulary.hpp"

namespace tree_transforms {

namespace detail {

/// One of the two trees of a line.
inline symbol_tree tree_in(nlohmann::json const& json, std::string const& line, std::string const& name) {
  auto const found = json.find(name);
  if (found == json.end()) throw triad::data_error("expected a tree \"" + name + "\", found none");
  if (!found->is_string())
    throw triad::data_error("expected a tree as text in \"" + name + "\", found a value of type " + found->type_name());
  auto const& text = found->get_ref<std::string const&>();
  // Where the text stands in the line, so that a column is that of an editor; text with escapes is not there as it is.
  auto const key = line.find('"' + name + '"');
  auto const quote = key == std::string::npos ? key : line.find('"' + text + '"', key + name.size() + 2);
  bool const there = quote != std::string::npos;
  triad::text_position where;
  if (there) where.column = static_cast<index_t>(quote) + 2;
  try {
    auto tree = triad::parse_tree(text, where);
    for (auto const& node : tree.nodes())
      if (node.label == triad::empty_label)
        throw triad::data_error("'<empty>' is a place without a node, no label of one");
    return tree;
  } catch (triad::data_error const& e) {
    throw triad::data_error(name + (there ? ", " : " without its escapes, ") + e.what());
  }
}

}  // namespace detail

/// One line of a file.
inline row from_json(std::string const& line) {
  nlohmann::json json;
  try {
    json = triad::parse_json(line);
  } catch (nlohmann::json::parse_error const& e) {
    throw triad::data_error("column " + std::to_string(e.byte) +
                            ": expected a JSON object with \"source\" and \"target\", found what is no JSON");
  } catch (nlohmann::json::exception const& e) {  // 1e999
    throw triad::data_error(std::string("there is a value that cannot be read: ") + e.what());
  }
  if (!json.is_object())
    throw triad::data_error(
        std::string("expected a JSON object with \"source\" and \"target\", found a value of type ") +
        json.type_name());
  return {detail::tree_in(json, line, "source"), detail::tree_in(json, line, "target")};
}

/// The same row as one line.
inline std::string to_json_line(row const& r) {
  nlohmann::ordered_json json;
  json["source"] = triad::to_text(r.source);
  json["target"] = triad::to_text(r.target);
  return json.dump();
}

/// All rows of a file.
inline split_rows read_rows(std::string const& path, depth_limit const& limit = {}) {
  triad::text::gz_lines lines(path);
  split_rows read;
  for (std::string line; lines.next(line);) {
    if (line.empty()) continue;
    try {
      limit.add(from_json(line), read);
    } catch (triad::data_error const& e) {
      throw triad::data_error(path + ":" + std::to_string(lines.number()) + ": " + e.what());
    }
  }
  if (!read.rows.empty()) return read;
  if (read.skipped > 0)
    throw triad::data_error(path + ": each of its " + std::to_string(read.skipped) + " rows has a tree deeper than " +
                            std::to_string(limit.most) + ": take a larger --depth");
  throw triad::data_error(path + ": there is no row in it");
}

/// One split of a folder: NAME.jsonl, gzipped or not, or NAME.json, as one of the sources calls it.
inline split_rows read_split(std::string const& folder, split s, depth_limit const& limit = {}) {
  std::string const name = name_of(s);
  for (auto const* ending : {".jsonl.gz", ".jsonl", ".json.gz", ".json"})
    if (auto const path = (std::filesystem::path(folder) / (name + ending)).string(); std::filesystem::exists(path))
      return read_rows(path, limit);
  if (s == split::train || s == split::dev)
    throw triad::data_error(folder + ": there is no " + name +
                            ".jsonl, gzipped or not; docs/data.md says where it comes from");
  return {};
}

/// All splits of a folder; train and validation must be there.
inline data_set read_data(std::string const& folder, depth_limit const& limit = {}) {
  if (!std::filesystem::is_directory(folder))
    throw triad::data_error(folder + ": a folder with train, validation, test, ood_new and ood_long is expected");
  data_set data;
  for (auto const s : splits) data[s] = read_split(folder, s, limit);
  return data;
}

}  // namespace tree_transforms
