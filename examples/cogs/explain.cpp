// cogs explain: the graph of one sentence as a picture, with the probability of every parent.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/atomic_file.hpp"
#include "../common/run_folder.hpp"
#include "../common/svg_arcs.hpp"
#include "commands.hpp"
#include "record.hpp"
#include "score.hpp"

namespace cogs {
namespace {

/// softmax of row i of the scores at j.
double probability(parse const& p, std::size_t n, std::size_t i, std::size_t j) {
  auto const* const row = p.score.data() + i * n;
  double const most = *std::max_element(row, row + n);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += std::exp(row[k] - most);
  return std::exp(row[j] - most) / sum;
}

/// Each word's arc has the role and the parent's probability.
std::string picture(tagged_sentence const& s, parse const& p) {
  std::vector<triad::examples::arc_word> words;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    auto const& kind =
        s.verb_name[i].empty() ? s.noun_type[i].empty() ? s.category[i] : s.noun_type[i] : s.verb_name[i];
    auto& word = words.emplace_back(triad::examples::arc_word{s.tokens[i], kind, s.parent[i]});
    if (s.parent[i] < 0) continue;
    char share[16];
    std::snprintf(share, sizeof share, "%.2f",
                  probability(p, s.tokens.size(), i, static_cast<std::size_t>(s.parent[i])));
    word.label = s.role[i] + " " + share;
  }
  return triad::examples::to_svg(words);
}

}  // namespace

int explain(options const& o, query const& q) {
  tagged_sentence const given(words_of(q.sentence), "");
  if (given.tokens.empty())
    throw triad::data_error("explain needs a sentence: --sentence \"A rose was helped by a dog .\"");
  trained model(q.checkpoint, o, given.size());
  parse_all(*model.net, {given}, model.words, [&](tagged_sentence const& s, parse const& p) {
    auto const graph = in_words(s, p, model.words, !q.argmax);
    auto const n = s.tokens.size();
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::size_t> order(n);
      for (std::size_t j = 0; j < n; ++j) order[j] = j;
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return p.score[i * n + a] > p.score[i * n + b]; });
      std::printf("%-12s", s.tokens[i].c_str());
      for (std::size_t k = 0; k < std::min<std::size_t>(3, n); ++k)
        std::printf("  %s %.3f", order[k] == i ? "(root)" : s.tokens[order[k]].c_str(), probability(p, n, i, order[k]));
      std::printf("\n");
    }
    auto const form = to_logical_form(graph);
    std::printf("%s\n", form ? form->c_str() : "(this graph has no logical form)");
    if (o.out.empty()) return;
    triad::examples::make_folder(o.out);
    triad::examples::write_atomically(o.out + "/graph.svg", picture(graph, p));
    std::printf("%s/graph.svg\n", o.out.c_str());
  });
  return 0;
}

}  // namespace cogs
