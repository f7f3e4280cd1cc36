// cogs explain: the graph of one sentence as a picture, with the probability of every parent.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "../common/atomic_file.hpp"
#include "../common/run_folder.hpp"
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

std::string escaped(std::string const& text) {
  std::string result;
  for (char const c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

/// Words in a row, an arc from each word to its parent, labelled with the role and the parent's probability.
std::string picture(tagged_sentence const& s, parse const& p) {
  constexpr double step = 86, left = 50;
  auto const n = s.tokens.size();
  double highest = 1;
  for (std::size_t i = 0; i < n; ++i)
    if (s.parent[i] >= 0) highest = std::max(highest, std::abs(s.parent[i] - static_cast<double>(i)));
  double const line = 40 + 26 * highest, width = 2 * left + step * static_cast<double>(n - 1);
  auto const x = [&](double i) { return left + step * i; };
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << line + 50 << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<g fill=\"none\" stroke=\"#336\">\n";
  std::ostringstream labels;
  for (std::size_t i = 0; i < n; ++i) {
    auto const at = static_cast<double>(i);
    svg << "</g><text x=\"" << x(at) << "\" y=\"" << line + 20 << "\" text-anchor=\"middle\">" << escaped(s.tokens[i]) << "</text>\n";
    auto const& kind = s.verb_name[i].empty() ? s.noun_type[i].empty() ? s.category[i] : s.noun_type[i] : s.verb_name[i];
    svg << "<text x=\"" << x(at) << "\" y=\"" << line + 36 << "\" text-anchor=\"middle\" fill=\"#777\" font-size=\"10\">" << escaped(kind)
        << "</text><g fill=\"none\" stroke=\"#336\">\n";
    if (s.parent[i] < 0) continue;
    double const to = s.parent[i], top = line - 26 * std::abs(to - at);
    svg << "<path d=\"M " << x(at) << " " << line << " C " << x(at) << " " << top << ", " << x(to) << " " << top << ", " << x(to) << " " << line
        << "\"/><circle cx=\"" << x(to) << "\" cy=\"" << line << "\" r=\"2.5\" fill=\"#336\"/>\n";
    char share[16];
    std::snprintf(share, sizeof share, "%.2f", probability(p, n, i, static_cast<std::size_t>(s.parent[i])));
    labels << "<text x=\"" << (x(at) + x(to)) / 2 << "\" y=\"" << line - 0.75 * (line - top) - 3 << "\" text-anchor=\"middle\" fill=\"#336\">" << escaped(s.role[i])
           << " " << share << "</text>\n";
  }
  svg << "</g>\n" << labels.str() << "</svg>\n";
  return svg.str();
}

}  // namespace

int explain(options const& o, query const& q) {
  tagged_sentence const given(words_of(q.sentence), "");
  if (given.tokens.empty()) throw triad::data_error("explain needs a sentence: --sentence \"A rose was helped by a dog .\"");
  trained model(q.checkpoint, o, given.size());
  parse_all(*model.net, {given}, model.words, [&](tagged_sentence const& s, parse const& p) {
    auto const graph = in_words(s, p, model.words, !q.argmax);
    auto const n = s.tokens.size();
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::size_t> order(n);
      for (std::size_t j = 0; j < n; ++j) order[j] = j;
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p.score[i * n + a] > p.score[i * n + b]; });
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
