// cogs evaluate, predict and generate: what a trained model says, and sentences to try it on.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "../common/answer_lines.hpp"
#include "../common/atomic_file.hpp"
#include "../common/run_folder.hpp"
#include "commands.hpp"
#include "record.hpp"
#include "report.hpp"

namespace cogs {
namespace {

int longest_of(sentences const& all) {
  int most = 1;
  for (auto const& s : all) most = std::max(most, s.size());
  return most;
}

void print(tagged_sentence const& s) {
  triad::examples::text_table table({"token", "place", "parent", "role", "category", "noun type", "verb"});
  auto const shown = [](std::string const& label) { return label.empty() ? std::string("-") : label; };
  for (int i = 0; i < s.size(); ++i) {
    auto const at = static_cast<std::size_t>(i);
    table.row({s.tokens[at], std::to_string(i), s.parent[at] < 0 ? "-" : std::to_string(s.parent[at]),
               shown(s.role[at]), shown(s.category[at]), shown(s.noun_type[at]), shown(s.verb_name[at])});
  }
  auto const form = to_logical_form(s);
  std::printf("%s%s\n", table.text().c_str(), form ? form->c_str() : "(this graph has no logical form)");
}

}  // namespace

int evaluate(options const& o, query const& q) {
  auto const data = o.data.empty() ? generate_data(o) : read_data(o, false);
  trained model(q.checkpoint, o, std::max({longest_of(data.dev), longest_of(data.test), longest_of(data.gen)}));
  for (auto const& [name, part] : {std::pair("dev", &data.dev), {"test", &data.test}})
    if (!part->empty()) std::printf("%s  %s\n", name, percent(accuracy(*model.net, *part, model.words)).c_str());
  if (!data.gen.empty()) std::printf("\n%s", table_of(score(*model.net, data.gen, model.words)).c_str());
  return 0;
}

int predict(options const& o, query const& q) {
  constexpr int most = 128;  // tokens of a sentence
  trained model(q.checkpoint, o, most);
  auto const answer = [&](std::string const& line) {
    tagged_sentence const s(words_of(line), "");
    if (s.tokens.empty()) return;
    if (s.size() > most)
      throw triad::data_error("the sentence has " + std::to_string(s.size()) + " tokens; at most " +
                              std::to_string(most) + " are read");
    parse_all(*model.net, {s}, model.words,
              [&](tagged_sentence const& given, parse const& p) { print(in_words(given, p, model.words, !q.argmax)); });
  };
  triad::examples::answer_lines(q.sentence, answer);
  return 0;
}

int generate(options const& o, query const& q) {
  options wanted = o;
  wanted.sentences = q.count;
  auto const data = generate_data(wanted);
  triad::examples::make_folder(o.out);
  for (auto const& [name, part] :
       {std::pair("train", &data.train), {"dev", &data.dev}, {"test", &data.test}, {"gen", &data.gen}}) {
    std::string text;
    for (auto const& s : *part) text += to_json_line(s) + "\n";
    auto const path = o.out + "/" + name + "_seqtag.jsonl";
    triad::examples::write_atomically(path, text);
    std::printf("%s  %zu sentences\n", path.c_str(), part->size());
  }
  return 0;
}

}  // namespace cogs
