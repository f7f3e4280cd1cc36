// Reads files of sentences and graphs.  The ending of a file's name, without .gz, and the lines decide its format.
// SPDX-License-Identifier: Apache-2.0
//
//   .jsonl    JSON lines of your own (json_meaning.hpp), or COGS' tags (cogs/read.hpp)
//   .tsv      question<TAB>query, optionally <TAB>kind, as in CFQ and MCWQ (query.hpp);
//             or sentence<TAB>logical form<TAB>kind, as in COGS (tags.hpp) and in SLOG without variables
//             (variable_free.hpp)
//   .conllu   CoNLL-U with enhanced dependencies (enhanced.hpp)
//   .sdp      semantic dependencies in the format of SemEval 2015 (sdp.hpp)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cogs/read.hpp"
#include "enhanced.hpp"
#include "json_meaning.hpp"
#include "meaning.hpp"
#include "query.hpp"
#include "sdp.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/data/text_pairs.hpp"
#include "shared/report/refuse.hpp"
#include "tags.hpp"
#include "triad/io/text/gz_lines.hpp"
#include "variable_free.hpp"

namespace triad::programs::meanings {

enum class data_format { json_lines, queries, conllu, sdp, tags, variable_free };

/// The endings of the files that the programs read.
inline std::vector<std::string> const& data_endings() {
  static std::vector<std::string> const all{".jsonl", ".tsv", ".conllu", ".sdp"};
  return all;
}

/// Returns the format of a file.  Throws data_error if its name has another ending, or if no line shows the format.
inline data_format format_of(std::string const& path) {
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name.ends_with(".conllu")) return data_format::conllu;
  if (name.ends_with(".sdp")) return data_format::sdp;
  bool const json = name.ends_with(".jsonl");
  if (!json && !name.ends_with(".tsv"))
    refuse("{}: expected a name that ends in .jsonl, .tsv, .conllu or .sdp, or in one of these and .gz", path);
  text::gz_lines lines(path);
  for (std::string line; lines.next_text(line);) {
    auto const has = [&](std::string_view part) { return line.find(part) != std::string::npos; };
    if (json && !is_blank(line))
      return has("\"parent\"") && has("\"noun_type\"") ? data_format::tags : data_format::json_lines;
    if (json) continue;
    if (has("{")) return data_format::queries;
    if (has("x _ ")) return data_format::tags;
    if (has(" ( ") && has(" = ")) return data_format::variable_free;
  }
  if (json) return data_format::json_lines;  // read_rows() refuses a file without lines
  refuse("{}: found neither a query with {{ and }} nor a logical form of COGS or SLOG in it, expected one of them",
         path);
}

/// Returns the patterns of words that are one word to a model (vocabulary.hpp): in queries, the entities M0, M1, ...
inline std::vector<std::string> patterns_of(data_format format) {
  return format == data_format::queries ? std::vector<std::string>{"M#"} : std::vector<std::string>();
}

/// Returns the row of a question and its query.  The row's kind is that of the pair.  If the pair has none, the kind is
/// the first word of the question.
inline given_row row_of(text_pair const& pair) {
  auto row = graph_of_query(pair.source, pair.target);
  if (!pair.kind.empty()) row.graph.kind = pair.kind;
  return row;
}

/// Reads a file of this format, gzipped or not.  Throws data_error with file and line.
inline std::vector<given_row> read_rows(std::string const& path, data_format format) {
  std::vector<given_row> rows;
  switch (format) {
    case data_format::json_lines:
      read_json_lines(path, [&](nlohmann::json const& line) { rows.push_back({meaning_of(line), {}, {}}); });
      break;
    case data_format::queries:
      read_pairs(path, [&](text_pair const& pair) { rows.push_back(row_of(pair)); });
      break;
    case data_format::tags:
      if (path.find(".jsonl") == std::string::npos)
        read_pairs(path, [&](text_pair const& pair) {
          auto const s = cogs::from_logical_form(pair.source, pair.target, pair.kind);
          rows.push_back({graph_of_tags(s), {}, pair.target});
        });
      else
        for (auto const& s : cogs::read_sentences(path))
          rows.push_back({graph_of_tags(s), {}, cogs::to_logical_form(s).value_or("")});
      break;
    case data_format::variable_free:
      read_pairs(path, [&](text_pair const& pair) {
        rows.push_back({graph_of_form(pair.source, pair.target, pair.kind), {}, pair.target});
      });
      break;
    case data_format::conllu:
      rows = read_enhanced(path);
      break;
    case data_format::sdp:
      rows = read_sdp(path);
      break;
  }
  if (rows.empty()) refuse("{}: there is no sentence in it", path);
  return rows;
}

inline std::vector<given_row> read_rows(std::string const& path) { return read_rows(path, format_of(path)); }

/// Returns a graph in the format of a file, with a line end: a line of JSON, a query, a logical form,
/// or the lines of the sentence with this graph.  `row` is the sentence as it was read.
inline std::string written_as(data_format format, given_row const& row, meaning const& m) {
  switch (format) {
    case data_format::queries:
      return query_of(m) + "\n";
    case data_format::tags:
      return form_of_graph(m) + "\n";
    case data_format::variable_free:
      return variable_free_form(m) + "\n";
    case data_format::conllu:
      return conllu_with(row.written, m);
    case data_format::sdp:
      return sdp_with(row.written, m);
    default:
      return json_line(m) + "\n";
  }
}

/// The ending, the first lines and the further lines of a file of predicted graphs, which read_rows() reads.  COGS and
/// SLOG become JSON lines, because not every graph has a logical form.
inline char const* ending_of_answers(data_format format) {
  switch (format) {
    case data_format::queries:
      return ".tsv";
    case data_format::conllu:
      return ".conllu";
    case data_format::sdp:
      return ".sdp";
    default:
      return ".jsonl";
  }
}
inline std::string head_of_answers(data_format format) {
  return format == data_format::sdp ? std::string(sdp_header) + "\n" : std::string();
}
inline std::string answer_lines(data_format format, given_row const& row, meaning const& m) {
  if (format == data_format::queries)
    return question_of(m.tokens, true) + "\t" + query_of(m) + (m.kind.empty() ? "" : "\t" + m.kind) + "\n";
  if (format == data_format::conllu || format == data_format::sdp) return written_as(format, row, m);
  return json_line(m) + "\n";
}

/// Returns whether a graph is the right answer of a row.  The texts of queries are compared, as sets of conjuncts.  No
/// answer of another row that is left out is right.
inline bool is_right(data_format format, given_row const& row, meaning const& found) {
  if (format == data_format::queries) return cfq::same_conjuncts(query_of(found), row.written);
  return row.left_out.empty() && same_graph(row.graph, found);
}

/// A data set in a folder.  All files have one format.
struct data_set {
  struct part {
    std::string name;
    std::vector<given_row> rows;
  };
  data_format format = data_format::json_lines;
  std::vector<given_row> train, dev;
  std::vector<part> tests;  // without dev
};

/// Reads the files train, dev, test and test_NAME of a folder (data_folder.hpp), without `with_tests` only train and
/// dev.  Throws data_error if the files have several formats.
inline data_set read_data(std::string const& folder, bool needs_train, bool with_tests = true) {
  auto const files = find_data(folder, data_endings(), needs_train);
  data_set d;
  std::string first;
  auto const read = [&](std::string const& path) {
    auto const format = format_of(path);
    if (first.empty()) {
      first = path;
      d.format = format;
    }
    if (format != d.format) refuse("{}: expected the format of {}; give files of one format", path, first);
    return read_rows(path, format);
  };
  if (!files.train.empty() && needs_train) d.train = read(files.train);
  if (!files.dev.empty()) d.dev = read(files.dev);
  if (!with_tests) return d;
  for (auto const& [name, path] : files.tests) d.tests.push_back({name, read(path)});
  return d;
}

}  // namespace triad::programs::meanings
