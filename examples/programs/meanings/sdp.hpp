// Converts semantic dependencies in the format of SemEval 2015, task 18, to graphs and back.
// SPDX-License-Identifier: Apache-2.0
//
//   #SDP 2015                                                  the first line of the file
//   #22000001                                                  the name of a sentence
//   1  Ada   Ada   NNP  -  -  _      ARG1  ARG1                id form lemma pos top pred frame arg ..., with tabs
//   2  came  come  VBD  -  +  v:e-i  _     _                   pred +: this token is a predicate
//   3  home  home  RB   +  +  a:e-u  ARG2  _                   one column arg for each predicate, in their order
//   an empty line ends a sentence
//
// A token is a node if it is a top, a predicate or an argument.  A top has the label "top", and an argument is an edge
// from its predicate.  A predicate without arguments has the label "predicate".  Lemmas, tags and frames are not in the
// graph, and are kept as they were.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "enhanced.hpp"
#include "meaning.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::programs::meanings {

/// The first line of a file of SDP.
inline constexpr auto sdp_header = "#SDP 2015";

namespace detail {

inline constexpr std::size_t form_column = 1, top_column = 4, pred_column = 5, frame_column = 6, first_argument = 7;

/// Returns the graph of the rows of a sentence.  `number` is the number of the first row's line in the file.
inline meaning graph_of_rows(std::vector<std::vector<std::string>> const& rows, std::string const& file, long number) {
  meaning m;
  std::vector<int> predicates;  // tokens
  auto const at = [&](std::size_t i) { return number + static_cast<long>(i); };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const& columns = rows[i];
    if (columns.size() < first_argument)
      refuse("{}:{}: {} columns, expected 7 or more, separated by tabs: is this the format of 2015?", file, at(i),
             columns.size());
    if (columns[id_column] != std::to_string(i + 1))
      refuse("{}:{}: the id is '{}', expected {}", file, at(i), shortened(columns[id_column]), i + 1);
    if (columns[form_column].empty()) refuse("{}:{}: the form is empty, expected a word", file, at(i));
    for (auto const c : {top_column, pred_column})
      if (columns[c] != "+" && columns[c] != "-")
        refuse("{}:{}: {} is '{}', expected + or -", file, at(i), c == top_column ? "top" : "pred",
               shortened(columns[c]));
    m.tokens.push_back(columns[form_column]);
    if (columns[pred_column] == "+") predicates.push_back(static_cast<int>(i));
  }
  std::vector<bool> has_arguments(predicates.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const& columns = rows[i];
    if (columns.size() != first_argument + predicates.size())
      refuse("{}:{}: {} columns of arguments, expected {}, one for each predicate of the sentence", file, at(i),
             columns.size() - first_argument, predicates.size());
    if (columns[top_column] == "+")
      m.node_labels[static_cast<std::size_t>(m.add(node::token(static_cast<int>(i))))].push_back("top");
    for (std::size_t p = 0; p < predicates.size(); ++p) {
      auto const& label = columns[first_argument + p];
      if (label == "_") continue;
      has_arguments[p] = true;
      int const from = m.add(node::token(predicates[p])), to = m.add(node::token(static_cast<int>(i)));
      m.edges.push_back({from, label, to});
    }
  }
  for (std::size_t p = 0; p < predicates.size(); ++p)
    if (!has_arguments[p])
      m.node_labels[static_cast<std::size_t>(m.add(node::token(predicates[p])))].push_back("predicate");
  try {
    return checked(std::move(m));
  } catch (data_error const& e) {
    refuse("{}:{}: {}", file, number, e.what());
  }
}

}  // namespace detail

/// Reads a file, gzipped or not.  Throws data_error with file and line.
inline std::vector<given_row> read_sdp(std::string const& path) {
  std::vector<given_row> all;
  std::vector<std::vector<std::string>> rows;
  std::string written;
  long number = 0;  // of the first row of the sentence
  auto const finish = [&] {
    if (rows.empty()) return;
    all.push_back({detail::graph_of_rows(rows, path, number), {}, written + "\n"});
    rows.clear();
    written.clear();
  };
  text::gz_lines lines(path);
  for (std::string line; lines.next_text(line);) {
    if (lines.number() == 1) {
      if (line != sdp_header) refuse("{}:1: found \"{}\", expected {}", path, shortened(line), sdp_header);
      continue;
    }
    if (line.empty()) {
      finish();
      continue;
    }
    written += line + "\n";
    if (line[0] == '#' && rows.empty()) continue;
    if (rows.empty()) number = lines.number();
    rows.push_back(detail::split(line, '\t'));
  }
  finish();
  return all;
}

/// Returns the lines of a sentence, which given_row::written has, with another graph.  A token that stays a predicate
/// keeps its frame.  If a pair of tokens has several edges, only the first in the order of bytes is written, since the
/// format has one.  Throws data_error if a node is no single token.
inline std::string sdp_with(std::string const& written, meaning const& given) {
  auto const m = canonical(given);
  auto lines = detail::split(written, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::map<int, std::vector<edge const*>> arguments;  // of each predicate
  std::vector<bool> top(m.tokens.size());
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    auto const& n = m.nodes[i];
    if (n.is_slot || n.size() > 1)
      refuse("a node is '{}', expected single tokens; SDP has no spans and no slots", shortened(name_of(m, n)));
    for (auto const& label : m.node_labels[i]) {
      if (label == "top") top[static_cast<std::size_t>(n.first)] = true;
      if (label == "predicate") arguments[n.first];
    }
  }
  for (auto const& e : m.edges) arguments[m.nodes[static_cast<std::size_t>(e.from)].first].push_back(&e);
  std::size_t token = 0;
  for (auto& line : lines) {
    auto columns = detail::split(line, '\t');
    if (line.starts_with('#') || columns.size() < detail::first_argument) continue;
    int const i = static_cast<int>(token);
    bool const predicate = arguments.count(i) != 0;
    columns.resize(detail::first_argument);
    columns[detail::top_column] = top[token] ? "+" : "-";
    if (!predicate) columns[detail::frame_column] = "_";
    columns[detail::pred_column] = predicate ? "+" : "-";
    for (auto const& [of, edges] : arguments) {
      auto const found = std::find_if(edges.begin(), edges.end(), [&](edge const* e) {
        return m.nodes[static_cast<std::size_t>(e->to)].first == i;
      });
      columns.push_back(found == edges.end() ? "_" : (*found)->label);
    }
    line = detail::joined(columns, '\t');
    ++token;
  }
  return detail::joined(lines, '\n') + "\n\n";
}

}  // namespace triad::programs::meanings
