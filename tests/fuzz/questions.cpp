// Fuzzes the questions of `predict`, one in each line, in a file or on standard input: labelled graphs, facts of
// CLUTRR, sentences, sequences and trees. Each question must be answered, or refused with its position, and no question
// may be lost. The answer to a question in JSON must be JSON.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/questions.cpp"  // sources and not object files, so that libFuzzer sees their branches

#include <algorithm>
#include <functional>
#include <iostream>
#include <sstream>

#include "dependencies/data.cpp"
#include "graphs/clutrr/facts.hpp"
#include "graphs/read.cpp"
#include "reader.hpp"
#include "shared/data/data_folder.cpp"
#include "shared/data/json_lines.cpp"
#include "trees/read.hpp"

namespace {

namespace clutrr = triad::programs::clutrr;
namespace dependencies = triad::programs::dependencies;
namespace graphs = triad::programs::graphs;
namespace trees = triad::programs::trees;

using namespace triad;

/// Writes an answer in one line, like `predict`. Checks that the line is readable and has the answer.
void answer_json(std::string const& line, char const* name) {
  auto const text = programs::with_members(line, {{name, "an answer"}});
  fuzz::expect(text.find('\n') == std::string::npos, "an answer is one line");
  fuzz::expect(programs::member<std::string>(programs::read_json_line(text), name, "") == "an answer",
               "an answer reads back");
}

void ask_graphs(std::string const& line) {
  static graphs::vocabulary const words({"left", "above", "node: red"}, {"left", "above"});
  if (programs::is_blank(line)) return;
  auto given = programs::read_json_line(line);
  given.erase("target");
  auto const g = graphs::numbered(graphs::read_graph(given, false), words);
  fuzz::expect(g.query.from < g.nodes && g.query.to < g.nodes && g.target == -1, "a question is about nodes");
  answer_json(line, "target");
}

void ask_clutrr(std::string const& line) {
  static graphs::vocabulary const words({"mother", "brother"}, {"uncle"});
  auto const cut = line.find(' ');
  auto const s = clutrr::parse_facts(line.substr(0, cut), cut == std::string::npos ? "" : line.substr(cut + 1), words);
  fuzz::expect(s.graph.nodes == static_cast<int>(s.people.size()) && s.graph.query.to < s.graph.nodes,
               "facts are about people");
}

void ask_parse(std::string const& line) {
  bool const is_json = line.starts_with('{');
  auto const tokens = is_json ? dependencies::tokens_of(programs::read_json_line(line)) : text::words(line);
  auto const s = text::conllu_of(tokens);
  fuzz::expect(s.words.size() == tokens.size(), "a word for each token");
  if (is_json) answer_json(line, "heads");
}

void ask_pairs(std::string const& line) {
  if (!line.starts_with('{')) return;
  (void)programs::member<std::string>(programs::read_json_line(line), "source", "a text");
  answer_json(line, "target");
}

void ask_trees(std::string const& line) {
  if (programs::is_blank(line)) return;
  auto const tree = trees::source_of(trees::question_of(line), line);
  fuzz::expect(parse_tree(to_text(tree)) == tree, "a tree reads back from its text");
  if (line.starts_with('{')) answer_json(line, "target");
}

using asking = void (*)(std::string const& line);

/// Checks that each line is answered, or refused with its position. The position is the line's number between `before`
/// and `after`. In a file, a column may follow the number.
void ask_on(programs::questions const& q, asking ask, long lines, std::string const& before, std::string const& after) {
  long answered = 0, refused = 0;
  q.ask(
      [&](std::string const& line) {
        ask(line);
        ++answered;
      },
      [&](programs::refused_question const& r) {
        ++refused;
        fuzz::expect(r.number == answered + refused, "a refused question has its line's number");
        auto const place = before + std::to_string(r.number);
        auto const digits = place.size() + 1,
                   end = std::min(r.what.find_first_not_of("0123456789", digits), r.what.size());
        bool const has_column = r.what.starts_with(place + ":") && end > digits && r.what.compare(end, 2, ": ") == 0;
        fuzz::expect(r.what.starts_with(place + after) || has_column, "a refusal begins with its place");
      });
  fuzz::expect(answered + refused == lines, "each line is answered or refused");
}

long lines_of(std::string_view text) {
  return std::count(text.begin(), text.end(), '\n') + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

/// Returns the number of lines in the file, gzipped or not.
long lines_of_file(std::string const& path) {
  text::gz_lines lines(path);
  for (std::string line; lines.next(line);) continue;
  return lines.number();
}

/// Checks standard input: each line must be answered or refused. All lines may be refused together only if the input is
/// a Git LFS pointer.
void ask_or_refuse_pointer(programs::questions const& q, asking ask, std::string_view text) {
  std::string first(text.substr(0, text.find('\n')));
  text::trim_line(first, true);
  if (!first.starts_with(lfs_pointer_begin)) return ask_on(q, ask, lines_of(text), "line ", " of standard input: ");
  try {
    ask_on(q, ask, 0, "line ", " of standard input: ");
  } catch (data_error const&) {
    return;
  }
  fuzz::found("a Git LFS pointer is taken for questions");
}

void pipe_in(std::string_view text, std::function<void()> const& ask) {
  std::istringstream piped{std::string(text)};
  auto* const before = std::cin.rdbuf(piped.rdbuf());
  std::cin.clear();
  ask();
  std::cin.rdbuf(before);
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static fuzz::input_file file("questions.jsonl");
  auto const text = fuzz::text_of(data, size);
  file.write(text);
  for (auto const& ask : {ask_graphs, ask_clutrr, ask_parse, ask_pairs, ask_trees}) {
    programs::questions q;
    q.file = file.path();
    fuzz::read_or_refuse(file.path(), [&] { ask_on(q, ask, lines_of_file(file.path()), file.path() + ":", ": "); });
    q.file.clear();
    pipe_in(text, [&] { ask_or_refuse_pointer(q, ask, text); });
  }
  return 0;
}
