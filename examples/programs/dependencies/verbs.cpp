// The verbs that use a trained parser.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>

#include "program.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/given_answers.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/confusion.hpp"
#include "shared/report/page.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/svg_arcs.hpp"
#include "shared/report/table.hpp"
#include "shared/run/permute.hpp"
#include "triad/core/errors.hpp"

namespace triad::programs::dependencies {
namespace {

/// Reads the trained parser, with memory for sentences of up to `longest` words.  If `explaining`, a batch has one
/// sentence, and the parser keeps all intermediate values.
trained<parser> trained_parser(options const& o, checkpoint const& file, int longest, room_advice const& advice = {},
                               bool explaining = false) {
  return {o, file,
          [=](vocabulary const& v, options const&) {
            return parser_room{.tokens = v.words().size(),
                               .relations = static_cast<index_t>(v.relations().size()),
                               .words = explaining ? longest : 500,
                               .usual = std::min(longest, 24),
                               .longest = longest,
                               .learns = explaining};
          },
          advice};
}

int evaluate(options const& o) {
  expect_other_folder(o.out, o.data, "parses");
  auto const data = read_data(o, false);
  std::vector<std::string> files{"confusion.csv"};
  for (auto const& part : data.tests) files.push_back(part.name + ".conllu");
  expect_free_in_folder(o, files);
  int const longest = longest_of(data);
  auto const model =
      trained_parser(o, open_run(o.run), longest,
                     {.unit = "words", .larger = [&] { return larger_than(data.tests, nearly(longest)); }});
  if (!o.out.empty()) make_folder(o.out);
  confusion relations;
  for (auto const& part : data.tests) {
    std::string text;
    auto const found = score(*model.net, part.all, model.words, [&](auto const& s, auto const& parsed) {
      for (std::size_t i = 0; i < s.words.size(); ++i)
        if (s.words[i].head == parsed.words[i].head)
          relations.add(part.name, s.words[i].relation, parsed.words[i].relation);
      if (!o.out.empty()) text += to_conllu(parsed);
    });
    say("{}{}\n", told(scores_of(part.name, found), found.words), unknown_in(part.all, model.words));
    if (!o.out.empty()) first_writes(o.out + "/" + part.name + ".conllu", text);
  }
  if (o.confusion) fmt::print("{}", relations.table());
  if (!o.out.empty()) first_writes(o.out + "/confusion.csv", relations.csv());
  return 0;
}

/// Returns the sentence.  Throws data_error if the model does not know one of its words and o.unknown is false.
conllu_sentence const& checked(conllu_sentence const& s, vocabulary const& v, options const& o) {
  if (!o.unknown) expect_known(s, v);
  return s;
}

/// Two probabilities for each word: that of the chosen head before the tree is chosen, and that of the label, given
/// this head.
struct tree_probabilities {
  std::vector<double> heads, labels;

  explicit tree_probabilities(found_tree const& tree) : labels(tree.sure) {
    auto const n = tree.parent.size();
    for (std::size_t i = 0; i < n; ++i)
      heads.push_back(std::exp(tree.parents[i * n + static_cast<std::size_t>(tree.parent[i])]));
  }
};

/// The heads and labels of a sentence, in the form of JSON lines.
struct head_lists {
  std::vector<int> heads;
  std::vector<std::string> labels;

  explicit head_lists(conllu_sentence const& s) {
    for (auto const& word : s.words) {
      heads.push_back(word.head);
      labels.push_back(word.relation);
    }
  }
};

/// Returns the JSON line `question` with heads and labels added.
std::string to_json_line(std::string const& question, conllu_sentence const& s, found_tree const& tree,
                         bool probabilities) {
  head_lists const found(s);
  json_members members{{"heads", found.heads}, {"labels", found.labels}};
  if (probabilities) {
    tree_probabilities const all(tree);
    for (auto const& [name, values] :
         {std::pair("head_probabilities", &all.heads), {"label_probabilities", &all.labels}}) {
      auto rounded = nlohmann::ordered_json::array();
      for (double const p : *values) rounded.push_back(four_digits(p));
      members.emplace_back(name, std::move(rounded));
    }
  }
  return with_members(question, members) + "\n";
}

/// Returns the sentence in CoNLL-U.  Probabilities are appended to the last column.
std::string to_conllu_text(conllu_sentence s, found_tree const& tree, bool probabilities) {
  if (!probabilities) return to_conllu(s);
  tree_probabilities const all(tree);
  for (std::size_t i = 0; i < s.words.size(); ++i) {
    auto& line = s.lines[s.places[i]];
    auto const last = line.rfind('\t') + 1;
    auto const more = fmt::format("HeadProbability={:.4f}|LabelProbability={:.4f}", all.heads[i], all.labels[i]);
    if (line.substr(last) == "_") line.erase(last);
    line += (last == line.size() ? "" : "|") + more;
  }
  return to_conllu(s);
}

/// The sentences of an input in CoNLL-U, and the name of the input for messages.  `is` is true if the input is CoNLL-U.
/// The ending of the file's name or the first line of the input shows this.
struct asked_conllu {
  bool is = false;
  sentences all{};
  std::string called{};
};
asked_conllu read_asked(options& o) {
  auto const& file = o.questions.file;
  if (!o.sentence.empty()) return {};
  bool const named = !file.empty() && !file.ends_with(".jsonl") && !file.ends_with(".jsonl.gz") &&
                     (!o.task.empty() || file.ends_with(".conllu") || file.ends_with(".conllu.gz"));
  if (!named && !text::begins_conllu(o.questions.first_line().value_or(""))) return {};
  auto const heads = text::conllu_heads::ignored;
  if (!file.empty()) return {true, text::read_conllu(file, heads), file};
  std::istringstream text(o.questions.all_of_input());
  return {true, text::read_conllu(text, "standard input", heads), "standard input"};
}

int predict(options& o) {
  constexpr int most = 1024;  // largest number of words of a sentence
  o.questions.expect_one_way({{"--sentence", !o.sentence.empty()}});
  auto const read = read_asked(o);
  int room = read.is ? longest_of(read.all) : 128;  // a longer sentence needs a new model
  auto const run = open_run(o.run);
  auto model = trained_parser(o, run, room);
  auto const answer = [&](sentences const& all, auto const& text_of) {
    parse_all(*model.net, all, model.words, [&](conllu_sentence const& s, found_tree const& tree) {
      programs::answer(text_of(with_tree(s, tree, model.words), tree));
    });
  };
  auto const as_conllu = [&](conllu_sentence const& found, found_tree const& tree) {
    return to_conllu_text(found, tree, o.probabilities);
  };
  given_answers trees("heads or labels");
  auto const one = [&](std::string const& line) {
    bool const is_json = line.starts_with('{');
    if (!is_json) expect_plain_question(line);
    auto const question = is_json ? read_json_line(line) : nlohmann::json();
    auto const s = text::conllu_of(is_json ? tokens_of(question) : text::words(line));
    auto const as_json = [&](conllu_sentence const& found, found_tree const& tree) {
      auto const heads = given_answer(question, "heads"), labels = given_answer(question, "labels");
      head_lists const all(found);
      trees.add(!heads.is_null() || !labels.is_null(), (heads.is_null() || heads == nlohmann::json(all.heads)) &&
                                                           (labels.is_null() || labels == nlohmann::json(all.labels)));
      return to_json_line(line, found, tree, o.probabilities);
    };
    if (s.words.empty()) return programs::answer(is_json ? as_json(s, {}) : "\n");  // every sentence has an answer
    if (s.words.size() > most) refuse("the sentence has {} words; at most {} are read: split it", s.words.size(), most);
    sentences const advice{checked(s, model.words, o)};
    if (auto const n = static_cast<int>(s.words.size()); n > room) {
      auto const longest = std::min(most, std::max(n, 2 * room));
      model = trained_parser(o, run, longest);
      room = longest;
    }
    if (is_json)
      answer(advice, as_json);
    else
      answer(advice, as_conllu);
  };
  int status = 0;
  if (read.is) {
    for (std::size_t i = 0; i < read.all.size(); ++i) try {
        checked(read.all[i], model.words, o);
      } catch (data_error const& e) {
        refuse("{}: sentence {}: {}", read.called, i + 1, e.what());
      }
    answer(read.all, as_conllu);
  } else if (!o.sentence.empty()) {
    one(o.sentence);
  } else {
    status = o.questions.answer(o.program, one);
  }
  note(o.program, trees.note());
  return status;
}

std::string picture(conllu_sentence const& s, found_tree const& tree, vocabulary const& v) {
  std::vector<arc_word> words;
  auto const n = s.words.size();
  for (std::size_t i = 0; i < n; ++i) {
    auto const p = static_cast<std::size_t>(tree.parent[i]);
    words.push_back({s.words[i].form, std::to_string(i + 1), tree.parent[i],
                     v.relations()[static_cast<std::size_t>(tree.relation[i])] + " " +
                         fmt::format("{:.3f}", std::exp(tree.parents[i * n + p])).substr(0, 4)});
  }
  return to_svg(words);
}

/// Returns the page for a sentence with the probabilities of its heads.  If the model has triangular attention, the
/// page also shows the attention of each edge.
nlohmann::ordered_json page_of(parser& net, options const& shape, conllu_sentence const& s, found_tree const& tree,
                               vocabulary const& v) {
  using json = nlohmann::ordered_json;
  auto const n = s.words.size();
  json words = json::array(), heads = json::array();
  for (std::size_t i = 0; i < n; ++i) {
    auto const& relation = v.relations()[static_cast<std::size_t>(tree.relation[i])];
    words.push_back({{"text", s.words[i].form},
                     {"note", std::to_string(i + 1)},
                     {"parent", tree.parent[i]},
                     {"label", relation},
                     {"labels", json::array({{{"name", relation}, {"weight", tree.sure[i]}}})}});
    auto& row = heads.emplace_back(json::array());
    for (std::size_t j = 0; j < n; ++j) row.push_back(thousandths(std::exp(tree.parents[i * n + j])));
  }
  json view{{"kind", "arcs"}, {"words", std::move(words)}, {"heads", std::move(heads)}};
  auto const size = static_cast<int>(n);
  if (shape.model == "edge-transformer" && shape.attention != triangle_form::flat && size <= most_nodes_of_page)
    view["attention"] =
        attention_view(shape.layers, size, [&](int layer, int i, int j) { return net.attention({layer, 0, {i, j}}); });
  std::string title;
  for (auto const& word : s.words) title += (title.empty() ? "" : " ") + word.form;
  return {{"title", title}, {"views", json::array({std::move(view)})}};
}

int explain(options const& o) {
  expect_plain_question(o.sentence);
  auto const given = text::conllu_of(text::words(o.sentence));
  if (given.words.empty()) refuse("explain needs a sentence: --sentence \"Did M0 marry M1\"");
  expect_free_in_folder(o, {"tree.svg"});
  auto const n = given.words.size();
  auto const model = trained_parser(o, open_run(o.run), static_cast<int>(n), {}, !o.html.empty());
  parse_all(
      *model.net, {checked(given, model.words, o)}, model.words, [&](conllu_sentence const& s, found_tree const& tree) {
        auto const name = [&](std::size_t i, std::size_t parent) {
          return i == parent ? std::string("(root)") : s.words[parent].form;
        };
        text_table table({"word", "head", "relation", "", "likeliest heads"});
        for (std::size_t i = 0; i < n; ++i) {
          auto const order = order_by(
              n, [&](std::size_t a, std::size_t b) { return tree.parents[i * n + a] > tree.parents[i * n + b]; });
          std::string likeliest;
          for (std::size_t k = 0; k < std::min<std::size_t>(3, n); ++k)
            likeliest += fmt::format("{}{} {:.3f}", k > 0 ? "  " : "", name(i, order[k]),
                                     std::exp(tree.parents[i * n + order[k]]));
          table.row({fmt::format("{} {}", i + 1, s.words[i].form), name(i, static_cast<std::size_t>(tree.parent[i])),
                     model.words.relations()[static_cast<std::size_t>(tree.relation[i])],
                     fmt::format("{:.3f}", tree.sure[i]), likeliest});
        }
        fmt::print("{}", table.text());
        if (!o.out.empty()) {
          make_folder(o.out);
          first_writes(o.out + "/tree.svg", picture(s, tree, model.words));
          say("{}/tree.svg\n", o.out);
        }
        if (o.html.empty()) return;
        write_page(o.html, page_of(*model.net, model.options, s, tree, model.words));
        say("{}\n", o.html);
      });
  return 0;
}

}  // namespace

std::vector<verb> verbs_of(options& o) {
  return {{"train", "Train, and parse dev and test", [&o] { return train(o); }},
          {"evaluate", "Exact match, unlabelled and labelled attachment score of a trained model",
           [&o] { return evaluate(o); }},
          {"predict", "Parse a sentence, a file, or each line of standard input", [&o] { return predict(o); }},
          {"explain", "The likeliest heads of each word, and a picture of the tree", [&o] { return explain(o); }}};
}

}  // namespace triad::programs::dependencies
