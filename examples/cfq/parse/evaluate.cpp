// cfq --task parse evaluate, predict and explain: what a trained model says.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "../../common/answer_lines.hpp"
#include "../../common/atomic_file.hpp"
#include "../../common/run_folder.hpp"
#include "../../common/svg_arcs.hpp"
#include "commands.hpp"
#include "record.hpp"
#include "score.hpp"

namespace dependency {
namespace {

/// A sentence with the words that the model knows, or any if `unknown`.
conllu_sentence const& checked(conllu_sentence const& s, vocabulary const& v, query const& q) {
  if (!q.unknown) expect_known(s, v);
  return s;
}

std::string share(double p) {
  char text[16];
  std::snprintf(text, sizeof text, "%.3f", p);
  return text;
}

std::string picture(conllu_sentence const& s, found_tree const& tree, vocabulary const& v) {
  std::vector<triad::examples::arc_word> words;
  auto const n = s.words.size();
  for (std::size_t i = 0; i < n; ++i) {
    auto const p = static_cast<std::size_t>(tree.parent[i]);
    words.push_back({s.words[i].form, std::to_string(i + 1), tree.parent[i],
                     v.relations()[static_cast<std::size_t>(tree.relation[i])] + " " +
                         share(std::exp(tree.parents[i * n + p])).substr(0, 4)});
  }
  return to_svg(words);
}

}  // namespace

int evaluate(options const& o, query const& q) {
  auto const data = read_data(o, false);
  int longest = 1;
  for (auto const& part : data.tests) longest = std::max(longest, longest_of(part.all));
  trained model(q.checkpoint, o, longest);
  if (!o.out.empty()) triad::examples::make_folder(o.out);
  for (auto const& part : data.tests) {
    std::string text;
    part_scores const found{part.name, score(*model.net, part.all, model.words, o.out.empty() ? nullptr : &text)};
    std::printf("%s%s\n", told(found).c_str(), unknown_in(part.all, model.words).c_str());
    if (!o.out.empty()) triad::examples::write_atomically(o.out + "/" + part.name + ".conllu", text);
  }
  return 0;
}

int predict(options const& o, query const& q) {
  constexpr int most = 128;  // words of a line
  if (!q.sentence.empty() && !q.file.empty())
    throw triad::data_error("--sentence and --file are two ways to ask: give one");
  auto const given =
      q.file.empty() ? sentences() : triad::text::read_conllu(q.file, triad::text::conllu_heads::ignored);
  trained model(q.checkpoint, o, q.file.empty() ? most : longest_of(given));
  auto const answer = [&](sentences const& all) {
    parse_all(*model.net, all, model.words, [&](conllu_sentence const& s, found_tree const& tree) {
      std::fputs(to_conllu(with_tree(s, tree, model.words)).c_str(), stdout);
    });
  };
  if (!q.file.empty()) {
    for (std::size_t i = 0; i < given.size(); ++i) try {
        checked(given[i], model.words, q);
      } catch (triad::data_error const& e) {
        throw triad::data_error(q.file + ": sentence " + std::to_string(i + 1) + ": " + e.what());
      }
    answer(given);
    return 0;
  }
  triad::examples::answer_lines(q.sentence, [&](std::string const& line) {
    auto const s = triad::text::conllu_of(triad::text::words(line));
    if (s.words.empty()) return;
    if (s.words.size() > most)
      throw triad::data_error("the sentence has " + std::to_string(s.words.size()) + " words; at most " +
                              std::to_string(most) + " are read");
    answer({checked(s, model.words, q)});
  });
  return 0;
}

int explain(options const& o, query const& q) {
  auto const given = triad::text::conllu_of(triad::text::words(q.sentence));
  if (given.words.empty()) throw triad::data_error("explain needs a sentence: --sentence \"Did M0 marry M1\"");
  auto const n = given.words.size();
  trained model(q.checkpoint, o, static_cast<int>(n));
  parse_all(
      *model.net, {checked(given, model.words, q)}, model.words, [&](conllu_sentence const& s, found_tree const& tree) {
        auto const name = [&](std::size_t i, std::size_t parent) {
          return i == parent ? std::string("(root)") : s.words[parent].form;
        };
        triad::examples::text_table table({"word", "head", "relation", "", "likeliest heads"});
        for (std::size_t i = 0; i < n; ++i) {
          std::vector<std::size_t> order(n);
          std::iota(order.begin(), order.end(), std::size_t{0});
          std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return tree.parents[i * n + a] > tree.parents[i * n + b];
          });
          std::string likeliest;
          for (std::size_t k = 0; k < std::min<std::size_t>(3, n); ++k)
            likeliest +=
                (k > 0 ? "  " : "") + name(i, order[k]) + " " + share(std::exp(tree.parents[i * n + order[k]]));
          table.row({std::to_string(i + 1) + " " + s.words[i].form, name(i, static_cast<std::size_t>(tree.parent[i])),
                     model.words.relations()[static_cast<std::size_t>(tree.relation[i])], share(tree.sure[i]),
                     likeliest});
        }
        std::printf("%s", table.text().c_str());
        if (o.out.empty()) return;
        triad::examples::make_folder(o.out);
        triad::examples::write_atomically(o.out + "/tree.svg", picture(s, tree, model.words));
        std::printf("%s/tree.svg\n", o.out.c_str());
      });
  return 0;
}

}  // namespace dependency
