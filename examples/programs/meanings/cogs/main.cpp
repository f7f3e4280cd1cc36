// The program cogs: the verbs train, evaluate, predict, explain and generate.
// SPDX-License-Identifier: Apache-2.0
#include "cogs.hpp"
#include "logical_form.hpp"
#include "parser.hpp"
#include "read.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/record.hpp"
#include "shared/cli/say.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/new_data.hpp"
#include "shared/report/page.hpp"
#include "shared/report/probabilities.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/svg_arcs.hpp"
#include "shared/run/permute.hpp"

namespace triad::programs::cogs {
namespace {

/// Reads the trained parser, with memory for sentences of up to `longest` tokens.  If `explaining`, a batch has one
/// sentence, and the parser keeps all intermediate values.
trained<parser> trained_parser(options const& o, checkpoint const& file, int longest, room_advice const& advice = {},
                               bool explaining = false) {
  return {o, file,
          [=](vocabulary const& words, options const&) {
            return parser_room{.tokens = words.tokens.end(),
                               .labels = words.labels(),
                               .batch = explaining ? 1 : 64,
                               .usual = std::min(longest, 24),
                               .longest = longest,
                               .positions = longest,
                               .learns = explaining};
          },
          advice};
}

int evaluate(options const& o) {
  auto const data = o.data.empty() ? generate_data(o, 0) : read_data(o, false);
  auto const model = trained_parser(o, open_run(o.run), data.longest(),
                                    {.unit = "tokens", .larger = [&] { return data.larger(nearly(data.longest())); }});
  for (auto const& [name, part] : {std::pair("dev", &data.dev), {"test", &data.test}})
    if (!part->empty()) fmt::print("{}  {}\n", name, percent(accuracy(*model.net, *part, model.words)));
  if (!data.gen.empty()) fmt::print("\n{}", table_of(score(*model.net, data.gen, model.words)));
  return 0;
}

std::string form_of(tagged_sentence const& graph) {
  return to_logical_form(graph).value_or("(this graph has no logical form)");
}

/// Returns, for each token, the probability that it is the parent of token i.  Entry i is the probability that token i
/// is a root.
std::vector<double> parents_of(parse const& p, std::size_t n, std::size_t i) {
  return probabilities_of(std::span(p.score).subspan(i * n, n));
}

/// Prints a sentence with its graph.  `p` is the parse of the sentence, or null.  If it is not null, also prints the
/// probabilities of parents.
void print(tagged_sentence const& s, parse const* p) {
  std::vector<std::string> header{"token", "place", "parent", "role", "category", "noun type", "verb"};
  if (p != nullptr) header.emplace_back("probability");
  text_table table(header);
  auto const shown = [](std::string const& label) { return label.empty() ? std::string("-") : label; };
  for (int i = 0; i < s.size(); ++i) {
    auto const at = static_cast<std::size_t>(i);
    std::vector<std::string> cells{
        s.tokens[at],          std::to_string(i),     s.parent[at] < 0 ? "-" : std::to_string(s.parent[at]),
        shown(s.role[at]),     shown(s.category[at]), shown(s.noun_type[at]),
        shown(s.verb_name[at])};
    auto const parent = s.parent[at] < 0 ? at : static_cast<std::size_t>(s.parent[at]);  // a root is its own parent
    if (p != nullptr) cells.push_back(fmt::format("{:.4f}", parents_of(*p, s.tokens.size(), at)[parent]));
    table.row(cells);
  }
  say("{}{}\n", table.text(), form_of(s));
}

int predict(options const& o) {
  o.questions.expect_one_way({{"--sentence", !o.sentence.empty()}});
  constexpr int most = 1024;  // largest number of tokens of a sentence
  int room = 128;             // a longer sentence needs a new model
  auto const file = open_run(o.run);
  auto model = trained_parser(o, file, room);
  auto const answer = [&](std::string const& line) {
    expect_plain_question(line);
    tagged_sentence const s(words_of(line), "");
    if (s.size() > most) refuse("the sentence has {} tokens; at most {} are read: split it", s.size(), most);
    if (s.size() > room) {
      auto const more = std::min(most, std::max(s.size(), 2 * room));
      model = trained_parser(o, file, more);
      room = more;
    }
    parse_all(*model.net, {s}, model.words, [&](tagged_sentence const& given, parse const& p) {
      print(in_words(given, p, model.words, !o.argmax), o.probabilities ? &p : nullptr);
    });
  };
  if (o.sentence.empty()) return o.questions.answer(o.program, answer);
  answer(o.sentence);
  return 0;
}

/// Draws the graph.  Each word's arc shows the role and the probability of the parent.
std::string picture(tagged_sentence const& s, parse const& p) {
  std::vector<arc_word> words;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    auto const& kind =
        s.verb_name[i].empty() ? s.noun_type[i].empty() ? s.category[i] : s.noun_type[i] : s.verb_name[i];
    auto& word = words.emplace_back(arc_word{s.tokens[i], kind, s.parent[i]});
    if (s.parent[i] >= 0)
      word.label =
          fmt::format("{} {:.2f}", s.role[i], parents_of(p, s.tokens.size(), i)[static_cast<std::size_t>(s.parent[i])]);
  }
  return to_svg(words);
}

/// Returns the page for a graph, with the probabilities of its edges.  If the model has triangular attention, the page
/// also shows the attention of edges to words.
nlohmann::ordered_json page_of(parser& net, options const& shape, tagged_sentence const& s, parse const& p) {
  using json = nlohmann::ordered_json;
  auto const n = s.tokens.size();
  json words = json::array(), heads = json::array();
  std::string title;
  for (std::size_t i = 0; i < n; ++i) {
    json facts = json::array();
    for (auto const& [name, value] :
         {std::pair("category", &s.category[i]), {"noun type", &s.noun_type[i]}, {"verb", &s.verb_name[i]}})
      if (!value->empty()) facts.push_back(fmt::format("{}: {}", name, *value));
    words.push_back({{"text", s.tokens[i]},
                     {"note", s.category[i]},
                     {"parent", s.parent[i]},
                     {"label", s.parent[i] < 0 ? std::string() : s.role[i]},
                     {"facts", std::move(facts)}});
    auto& row = heads.emplace_back(json::array());
    for (double const parent : parents_of(p, n, i)) row.push_back(thousandths(parent));
    title += (i > 0 ? " " : "") + s.tokens[i];
  }
  json view{{"kind", "arcs"},
            {"words", std::move(words)},
            {"heads", std::move(heads)},
            {"form", {{"title", "Logical form"}, {"text", form_of(s)}}}};
  auto const size = static_cast<int>(n);
  if (shape.model == "edge-transformer" && shape.attention != triangle_form::flat && size <= most_nodes_of_page)
    view["attention"] =
        attention_view(shape.layers, size, [&](int layer, int i, int j) { return net.attention({layer, 0, {i, j}}); });
  return {{"title", title}, {"views", json::array({std::move(view)})}};
}

int explain(options const& o) {
  tagged_sentence const given(words_of(o.sentence), "");
  if (given.tokens.empty()) refuse("explain needs a sentence: --sentence \"A rose was helped by a dog .\"");
  expect_free_in_folder(o, {"graph.svg"});
  auto const model = trained_parser(o, open_run(o.run), given.size(), {}, !o.html.empty());
  parse_all(*model.net, {given}, model.words, [&](tagged_sentence const& s, parse const& p) {
    auto const graph = in_words(s, p, model.words, !o.argmax);
    auto const n = s.tokens.size();
    for (std::size_t i = 0; i < n; ++i) {
      auto const order =
          order_by(n, [&](std::size_t a, std::size_t b) { return p.score[i * n + a] > p.score[i * n + b]; });
      auto const parents = parents_of(p, n, i);
      say("{:<12}", s.tokens[i]);
      for (std::size_t k = 0; k < std::min<std::size_t>(3, n); ++k)
        say("  {} {:.3f}", order[k] == i ? "(root)" : s.tokens[order[k]], parents[order[k]]);
      fmt::print("\n");
    }
    say("{}\n", form_of(graph));
    if (!o.out.empty()) {
      make_folder(o.out);
      first_writes(o.out + "/graph.svg", picture(graph, p));
      say("{}/graph.svg\n", o.out);
    }
    if (o.html.empty()) return;
    write_page(o.html, page_of(*model.net, model.options, graph, p));
    say("{}\n", o.html);
  });
  return 0;
}

int generate(options const& o) {
  refuse_seed(o, held_seed, "sentences of dev and test");
  auto const data = generate_data(o, o.count);
  std::vector<new_file> files;
  for (auto const& [name, part] :
       {std::pair("train", &data.train), {"dev", &data.dev}, {"test", &data.test}, {"gen", &data.gen}}) {
    std::string text;
    for (auto const& s : *part) text += to_json_line(s) + "\n";
    files.push_back({fmt::format("{}_seqtag.jsonl", name), std::move(text), fmt::format("{} sentences", part->size())});
  }
  write_data(o.out, files);
  return 0;
}

}  // namespace
}  // namespace triad::programs::cogs

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::cogs;
  return run_program<options>(
      "cogs",
      "COGS: from a sentence to the graph of its meaning.  An Edge Transformer, or a Transformer, learns it, and "
      "parses sentences of kinds that it never saw.",
      [](options& o) -> std::vector<verb> {
        return {{"train", "Train on a data set or on generated sentences, and evaluate by kind of sentence",
                 [&o] { return train(o); }},
                {"evaluate", "Accuracy of a trained model by kind of sentence", [&o] { return evaluate(o); }},
                {"predict", "Parse a sentence, or each line of standard input", [&o] { return predict(o); }},
                {"explain", "Draw the graph of a sentence with the probabilities of its edges",
                 [&o] { return explain(o); }},
                {"generate", "Write generated sentences with their graphs", [&o] { return generate(o); }}};
      },
      argc, argv, "examples/programs/meanings/cogs/README.md");
}
