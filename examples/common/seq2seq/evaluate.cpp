// evaluate and predict, of every sequence-to-sequence program.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "../answer_lines.hpp"
#include "record.hpp"
#include "score.hpp"
#include "translate.hpp"

namespace seq2seq {

int evaluate(options const& o, program const& p, query const& q) {
  expect_tests(p);
  trained model(q.checkpoint, o, use::translating, [&](vocabulary& words, options const& shape) {
    for (auto const& part : p.data.tests) expect_readable(shape, words, part.name, part.pairs);
    return longest_source(p.data, words);
  });
  if (!o.out.empty()) triad::examples::make_folder(o.out);
  std::vector<report> reports;
  for (auto const& part : p.data.tests) {
    auto const missing = unknown_in(part.pairs, model.words, false);
    if (!missing.empty()) std::printf("%s%s\n", part.name.c_str(), missing.c_str());
    auto const found = translations(*model.net, part.pairs, model.words, search_of(o, model.words));
    write_lines(o.out, part.name, found);
    reports.push_back(score(p, {part.name, with_tokens(part.pairs, model.words.target)}, found));
    std::printf("%s\n", told(reports.back()).c_str());
    std::fflush(stdout);
  }
  if (!o.out.empty()) triad::examples::write_atomically(o.out + "/scores.csv", scores_csv({{model.seed, reports}}));
  return 0;
}

int predict(options const& o, query const& q) {
  index_t most = 0;  // tokens of a sentence
  if (q.n_best > o.beam) throw triad::data_error("--n-best " + std::to_string(q.n_best) + " needs a --beam of as many");
  trained model(q.checkpoint, o, use::translating, [&](vocabulary& words, options const& shape) {
    most = most_of_unknown(shape, words);
    if (!q.sentence.empty())
      most = std::min(most, std::max<index_t>(1, static_cast<index_t>(words.source.encode(q.sentence).size())));
    return pair_length{most, 0};
  });
  auto const how = search_of(o, model.words, q.n_best);
  auto const answer = [&](std::string const& line) {
    auto const numbers = model.words.source.encode(line);
    if (numbers.empty()) {
      std::printf("\n");  // as many lines as there are sentences
      return;
    }
    if (auto const missing = model.words.source.unknown(line); !q.unknown && !missing.empty())
      throw triad::data_error("\"" + missing.front() + "\" is none of the " +
                              std::to_string(model.words.source.ordinary()) +
                              " words that the model knows; --unknown translates it as <unk>");
    if (static_cast<index_t>(numbers.size()) > most)
      throw triad::data_error("the sentence has " + std::to_string(numbers.size()) + " tokens; at most " +
                              std::to_string(most) + " are read");
    translate_all(*model.net, {numbers}, how, [&](std::size_t, std::vector<hypothesis> const& found) {
      if (found.empty()) std::printf("\n");
      for (auto const& h : found) {
        auto const text = model.words.target.decode(h.tokens);
        if (q.n_best > 1)
          std::printf("%.4f\t%s\n", h.score, text.c_str());
        else
          std::printf("%s\n", text.c_str());
      }
    });
    std::fflush(stdout);
  };
  triad::examples::answer_lines(q.sentence, answer);
  return 0;
}

}  // namespace seq2seq
