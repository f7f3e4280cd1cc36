// triad-answers: reads and writes inputs with this project's readers and writers, so that the results can be compared
// with those of other tools.
// SPDX-License-Identifier: Apache-2.0
// Reads one JSON object in each line of standard input, and writes one JSON object as the answer. The member "ask"
// names the question:
//
//   conllu       file                      sentences [[[form, head, relation] ...] ...], and the text written again
//   tree         text, branching           nodes [[level, label] ...] in the text's order, and the text written again
//   learn        words [[word, count] ...], most, least, file (written)
//   cut          file (merges), lines      the lines in parts, and the parts joined again
//   bytes        folder, texts             numbers [[number ...] ...], and the texts decoded from them
//   wordpiece    folder, texts             numbers [[number ...] ...]
//   tokens       kind, lines               tokens [[token ...] ...]
//   bleu         kind, hypotheses, references [[line of each] ...]       score, brevity, precision, matched, possible
//   chrf         hypotheses, references [[line of each] ...]             score
//   safetensors  file, out (written)       tensors {name: [type, shape]}, metadata; unknown types are not written
//   query        text                      the text as cfq-sequences reads it, with its conjuncts in the order of bytes
//   same         first, second             same: whether both have the same conjuncts
//   graph        question, text            the text of the query, written from the numbers of its graph
//   enhanced     file                      sentences [[[head, relation, node] ...] ...], and the text written again
// The answer to an input that throws is {"error": text of the exception}.
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfq/conjuncts.hpp"
#include "cfq/dataset.hpp"
#include "meanings/enhanced.hpp"
#include "meanings/numbered.hpp"
#include "meanings/query.hpp"
#include "triad/io/safetensors.hpp"
#include "triad/io/text/bleu.hpp"
#include "triad/io/text/bleu_tokens.hpp"
#include "triad/io/text/bpe.hpp"
#include "triad/io/text/byte_bpe.hpp"
#include "triad/io/text/chrf.hpp"
#include "triad/io/text/conllu.hpp"
#include "triad/io/text/wordpiece.hpp"
#include "triad/tree/s_expression.hpp"

namespace {

namespace cfq = triad::programs::cfq;
namespace meanings = triad::programs::meanings;

using json = nlohmann::json;
using strings = std::vector<std::string>;

std::string text_of(json const& question, char const* name) { return question.at(name).get<std::string>(); }

json conllu(json const& question) {
  json sentences = json::array();
  std::string text;
  for (auto const& s : triad::text::read_conllu(text_of(question, "file"))) {
    json words = json::array();
    for (auto const& w : s.words) words.push_back({w.form, w.head, w.relation});
    sentences.push_back(std::move(words));
    text += triad::text::to_conllu(s);
  }
  return {{"sentences", sentences}, {"text", text}};
}

json tree(json const& question) {
  auto const read = triad::parse_tree(text_of(question, "text"), {}, question.at("branching").get<triad::index_t>());
  json nodes = json::array();
  std::vector<triad::index_t> ends;  // the ends of all enclosing nodes
  for (triad::index_t at = 0; at < read.size(); ++at) {
    while (!ends.empty() && ends.back() <= at) ends.pop_back();
    nodes.push_back({ends.size(), read.label(at)});
    ends.push_back(at + read[at].size);
  }
  return {{"nodes", nodes}, {"text", triad::to_text(read)}};
}

json learn(json const& question) {
  auto const words = question.at("words").get<std::vector<std::pair<std::string, long long>>>();
  auto const learned =
      triad::text::learn_bpe(words, question.at("most").get<std::size_t>(), question.at("least").get<long long>());
  std::ofstream file(text_of(question, "file"), std::ios::binary);
  learned.write(file);
  return {{"merges", learned.merges().size()}};
}

json cut(json const& question) {
  auto merges = triad::text::bpe::read(text_of(question, "file"));
  strings lines, undone;
  for (auto const& line : question.at("lines").get<strings>()) {
    lines.push_back(merges.apply(line));
    undone.push_back(triad::text::bpe::undo(lines.back()));
  }
  return {{"lines", lines}, {"undone", undone}};
}

json bytes(json const& question) {
  auto vocabulary = triad::text::byte_bpe::read(text_of(question, "folder"));
  json numbers = json::array();
  strings texts;
  for (auto const& text : question.at("texts").get<strings>()) {
    auto const found = vocabulary.numbers(text);
    numbers.push_back(found);
    texts.push_back(vocabulary.decode(found));
  }
  return {{"numbers", numbers}, {"texts", texts}};
}

json wordpiece(json const& question) {
  auto vocabulary = triad::text::wordpiece::read(text_of(question, "folder"));
  json numbers = json::array();
  for (auto const& text : question.at("texts").get<strings>()) numbers.push_back(vocabulary.numbers(text));
  return {{"numbers", numbers}};
}

triad::text::bleu_tokens kind_of(json const& question) {
  using triad::text::bleu_tokens;
  auto const called = text_of(question, "kind");
  for (auto const t : {bleu_tokens::none, bleu_tokens::characters, bleu_tokens::mteval_13a, bleu_tokens::chinese})
    if (name(t) == called) return t;
  throw triad::data_error("no tokens called " + called);
}

json tokens(json const& question) {
  json all = json::array();
  for (auto const& line : question.at("lines").get<strings>())
    all.push_back(triad::text::tokenize(line, kind_of(question)));
  return {{"tokens", all}};
}

/// Adds hypotheses, each with its references, to a counter of n-grams.
void add_lines(auto& counted, strings const& hypotheses, std::vector<strings> const& references) {
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<std::string_view> const of_line(references.at(i).begin(), references.at(i).end());
    counted.add(hypotheses[i], of_line);
  }
}

json bleu(json const& question) {
  triad::text::bleu counted(kind_of(question));
  auto const hypotheses = question.at("hypotheses").get<strings>();
  auto const references = question.at("references").get<std::vector<strings>>();
  if (references.size() != hypotheses.size()) {
    strings first;
    for (auto const& r : references) first.push_back(r.at(0));
    return triad::text::corpus_bleu(hypotheses, first, kind_of(question)).score;  // throws the error
  }
  add_lines(counted, hypotheses, references);
  auto const s = counted.score();
  return {{"score", s.score},
          {"brevity", s.brevity},
          {"precision", s.precision},
          {"matched", s.matched},
          {"possible", s.possible}};
}

json chrf(json const& question) {
  triad::text::chrf counted;
  add_lines(counted, question.at("hypotheses").get<strings>(), question.at("references").get<std::vector<strings>>());
  return {{"score", counted.score().score}};
}

json safetensors(json const& question) {
  triad::safetensors const file(text_of(question, "file"));
  triad::safetensors_writer writer;
  json tensors = json::object();
  for (auto const& [name, text] : file.metadata()) writer.text(name, text);
  for (auto const& [name, r] : file.tensors()) {
    tensors[name] = {r.type, r.shape};
    if (triad::find_element_type(r.type) != nullptr) writer.add_bytes(name, r.type, r.shape, file.bytes(name));
  }
  writer.write(text_of(question, "out"));
  return {{"tensors", tensors}, {"metadata", file.metadata()}};
}

json query(json const& question) {
  auto const text = cfq::tokenised_query(text_of(question, "text"));
  return {{"text", text}, {"sorted", cfq::sorted_conjuncts(text)}};
}

json same(json const& question) {
  return {{"same", cfq::same_conjuncts(text_of(question, "first"), text_of(question, "second"))}};
}

json graph(json const& question) {
  auto const row =
      meanings::graph_of_query(text_of(question, "question"), cfq::tokenised_query(text_of(question, "text")));
  if (!row.left_out.empty()) return {{"left out", row.left_out}};
  auto const v = meanings::vocabulary::of({row}, 1, {"M#"});
  std::string reason;
  auto const e = meanings::numbered(row.graph, v, meanings::slots_of(row.graph), reason);
  if (!e) return {{"left out", reason}};
  return {{"text", meanings::query_of(meanings::graph_of(row.graph.tokens, *e, v))}};
}

json enhanced(json const& question) {
  json sentences = json::array();
  std::string text;
  for (auto const& row : meanings::read_enhanced(text_of(question, "file"))) {
    auto const& m = row.graph;
    std::vector<std::string> ids;  // of each node
    std::vector<std::string> empty;
    std::istringstream written(row.written);
    for (std::string line; std::getline(written, line);) {
      auto const id = line.substr(0, line.find('\t'));
      if (line[0] != '#' && id.find('-') == std::string::npos && !id.empty())
        (id.find('.') == std::string::npos ? ids : empty).push_back(id);
    }
    ids.insert(ids.end(), empty.begin(), empty.end());  // slots follow the words
    json edges = json::array();
    for (auto const& e : m.edges)
      edges.push_back({ids[static_cast<std::size_t>(e.from)], e.label, ids[static_cast<std::size_t>(e.to)]});
    for (std::size_t n = 0; n < m.nodes.size(); ++n)
      for (auto const& label : m.node_labels[n]) edges.push_back({"0", label, ids[n]});
    sentences.push_back(std::move(edges));
    text += row.left_out.empty() ? meanings::conllu_with(row.written, m) : row.written;
  }
  return {{"sentences", sentences}, {"text", text}};
}

json answer(json const& question) {
  static constexpr std::pair<std::string_view, json (*)(json const&)> all[] = {
      {"conllu", conllu},     {"tree", tree},   {"learn", learn},
      {"cut", cut},           {"bytes", bytes}, {"wordpiece", wordpiece},
      {"tokens", tokens},     {"bleu", bleu},   {"safetensors", safetensors},
      {"query", query},       {"same", same},   {"graph", graph},
      {"enhanced", enhanced}, {"chrf", chrf}};
  auto const asked = text_of(question, "ask");
  for (auto const& [name, of] : all)
    if (name == asked) return of(question);
  throw triad::data_error("nothing is called " + asked);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    json said;
    try {
      said = answer(json::parse(line));
    } catch (std::exception const& e) {
      said = {{"error", e.what()}};
    }
    std::cout << said.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}
