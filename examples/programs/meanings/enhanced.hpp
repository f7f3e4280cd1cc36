// Converts enhanced dependencies, the column DEPS of CoNLL-U, to graphs and back.
// SPDX-License-Identifier: Apache-2.0
//
//   4    ate    ...  0:root                  node 4 has the label "root"
//   5    pears  ...  4:obj|6.1:obj           an edge "obj" from word 4, and one from the empty node
//   6.1  _      ...  4:conj                  an empty node is a slot: the first is slot 0, the second slot 1
//
// Every word is a node.  A label such as "root" of a head 0 is a label of the node, because a sentence may have several
// roots and the root is no word.  All columns but DEPS are ignored, and are kept as they were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/text/conllu.hpp"

namespace triad::programs::meanings {

namespace detail {

inline constexpr std::size_t id_column = 0, deps_column = 8, conllu_columns = 10;

/// Returns the parts of a text between separators.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    auto const end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

inline std::string joined(std::vector<std::string> const& parts, char separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) (i == 0 ? text : text += separator) += parts[i];
  return text;
}

/// A line of a sentence that is a word or an empty node.
struct conllu_row {
  std::size_t line;  // its index in the sentence
  meanings::node node;
  std::vector<std::string> columns;
};

/// Returns the words and empty nodes of a sentence, in the order of their lines.
inline std::vector<conllu_row> rows_of(std::vector<std::string> const& lines) {
  std::vector<conllu_row> rows;
  int words = 0, slots = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto columns = split(lines[i], '\t');
    if (lines[i].starts_with('#') || columns.size() != conllu_columns ||
        columns[id_column].find('-') != std::string::npos)
      continue;
    bool const empty = columns[id_column].find('.') != std::string::npos;
    rows.push_back({i, empty ? node::slot(slots++) : node::token(words++), std::move(columns)});
  }
  return rows;
}

/// Returns an ID such as 8.1 as two numbers, so that IDs can be compared.
inline std::pair<int, int> place_of_id(std::string const& id) {
  auto const dot = id.find('.');
  return {text::detail::plain_number(id.substr(0, dot)),
          dot == std::string::npos ? 0 : text::detail::plain_number(id.substr(dot + 1))};
}

}  // namespace detail

/// Returns the row of a sentence.  A sentence in which every DEPS is _ is left out.  Throws data_error, with the number
/// of the line in the file, if DEPS is no list of heads and relations.
inline given_row graph_of_sentence(text::conllu_sentence const& s, std::string const& file) {
  given_row row;
  auto& m = row.graph;
  for (auto const& word : s.words) m.tokens.push_back(word.form);
  row.written = detail::joined(s.lines, '\n') + "\n\n";
  auto const bare = m;
  auto const rows = detail::rows_of(s.lines);
  std::map<std::string, int, std::less<>> nodes;
  for (auto const& r : rows)
    if (!nodes.emplace(r.columns[detail::id_column], m.add(r.node)).second)
      refuse("{}:{}: the empty node {} is there twice, expected once; give it another number", file,
             s.number + static_cast<long>(r.line), r.columns[detail::id_column]);
  bool any = false;
  for (auto const& r : rows) {
    auto const& deps = r.columns[detail::deps_column];
    if (deps == "_") continue;
    any = true;
    int const to = nodes[r.columns[detail::id_column]];
    for (auto const& one : detail::split(deps, '|')) {
      auto const colon = std::min(one.find(':'), one.size());
      auto const head = one.substr(0, colon), label = one.substr(std::min(colon + 1, one.size()));
      auto const from = nodes.find(head);
      if (label.empty() || (head != "0" && from == nodes.end()))
        refuse("{}:{}: DEPS is '{}', expected HEAD:RELATION, with a word or an empty node of this sentence or 0", file,
               s.number + static_cast<long>(r.line), shortened(deps));
      if (head == "0")
        m.node_labels[static_cast<std::size_t>(to)].push_back(label);
      else
        m.edges.push_back({from->second, label, to});
    }
  }
  if (!any) return {bare, "it has no enhanced dependencies", row.written};
  try {
    m = checked(std::move(m));
  } catch (data_error const& e) {
    refuse("{}:{}: {}", file, s.number, e.what());
  }
  return row;
}

/// Returns the lines of a sentence, which given_row::written has, with the graph in DEPS.  Heads are in ascending
/// order, and relations to one head in the order of bytes.  Slots without an empty node in `written` become empty nodes
/// after the last word.  Throws data_error if a node is a span, which DEPS cannot express.
inline std::string conllu_with(std::string const& written, meaning const& m) {
  auto lines = detail::split(written, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  auto rows = detail::rows_of(lines);
  std::map<node, std::string> ids;
  std::pair<int, int> last{0, 0};
  for (auto const& r : rows) {
    ids[r.node] = r.columns[detail::id_column];
    last = std::max(last, detail::place_of_id(r.columns[detail::id_column]));
  }
  for (auto const& n : canonical(m).nodes) {
    if (!n.is_slot && n.size() > 1)
      refuse("a node is the span '{}', expected single tokens; CoNLL-U has no spans", shortened(name_of(m, n)));
    if (!n.is_slot || ids.count(n) != 0) continue;
    auto const id = fmt::format("{}.{}", last.first, ++last.second);
    ids[n] = id;
    rows.push_back({lines.size(), n, detail::split(id + "\t_\t_\t_\t_\t_\t_\t_\t_\t_", '\t')});
    lines.emplace_back();
  }
  using dependency = std::tuple<std::pair<int, int>, std::string, std::string>;  // place of the head, label, head
  std::map<node, std::vector<dependency>> found;
  for (auto const& e : m.edges) {
    auto const& head = ids.at(m.nodes[static_cast<std::size_t>(e.from)]);
    found[m.nodes[static_cast<std::size_t>(e.to)]].push_back({detail::place_of_id(head), e.label, head});
  }
  for (std::size_t i = 0; i < m.nodes.size(); ++i)
    for (auto const& label : m.node_labels[i]) found[m.nodes[i]].push_back({{0, 0}, label, "0"});
  for (auto& r : rows) {
    auto& all = found[r.node];
    std::sort(all.begin(), all.end());
    std::string deps;
    for (auto const& [place, label, head] : all) deps += (deps.empty() ? "" : "|") + head + ":" + label;
    r.columns[detail::deps_column] = deps.empty() ? "_" : deps;
    lines[r.line] = detail::joined(r.columns, '\t');
  }
  return detail::joined(lines, '\n') + "\n\n";
}

/// Reads a file, gzipped or not.  HEAD and DEPREL need not be a tree.
inline std::vector<given_row> read_enhanced(std::string const& path) {
  std::vector<given_row> rows;
  text::conllu_reader reader(path, text::conllu_heads::ignored);
  for (text::conllu_sentence s; reader.next(s);) rows.push_back(graph_of_sentence(s, path));
  return rows;
}

}  // namespace triad::programs::meanings
