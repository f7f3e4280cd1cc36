// Sentences as a model parses them, what that is worth, and tables of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../../common/seed_means.hpp"
#include "../../common/table.hpp"
#include "parser.hpp"
#include "task.hpp"

namespace dependency {

using triad::text::attachment_scores;

/// The sentence with the heads and relations of a tree.
inline conllu_sentence with_tree(conllu_sentence s, found_tree const& tree, vocabulary const& v) {
  for (std::size_t i = 0; i < s.words.size(); ++i) {
    s.words[i].head = tree.parent[i] == static_cast<int>(i) ? 0 : tree.parent[i] + 1;
    s.words[i].relation = v.relations()[static_cast<std::size_t>(tree.relation[i])];
  }
  return s;
}

/// f(sentence, tree) for all of them, in batches that fit.
template <class F>
void parse_all(parser& net, sentences const& all, vocabulary const& v, F&& f) {
  for (std::size_t next = 0; next < all.size();) {
    net.clear();
    auto const first = next;
    while (next < all.size() && net.add(numbered(all[next], v))) ++next;
    if (next == first)
      throw triad::data_error("a sentence of " + std::to_string(all[next].words.size()) +
                              " words is longer than there is room for");
    auto const& found = net.infer();
    for (auto i = first; i < next; ++i) f(all[i], found[i - first]);
  }
}

/// text: where given, the parsed sentences are added to it.
inline attachment_scores score(parser& net, sentences const& all, vocabulary const& v, std::string* text = nullptr) {
  attachment_scores scores;
  parse_all(net, all, v, [&](conllu_sentence const& s, found_tree const& tree) {
    auto const parsed = with_tree(s, tree, v);
    scores.add(s.words, parsed.words);
    if (text) *text += to_conllu(parsed);
  });
  return scores;
}

struct part_scores {
  std::string part;
  attachment_scores scores;
};
/// What one run's parses are worth.
struct run_scores {
  std::uint64_t seed;
  std::vector<part_scores> parts;  // none where it diverged
  bool diverged = false, failed = false;
};

inline std::string percent(double part) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", 100 * part);
  return text;
}

/// Names and values of what is measured.
inline std::array<std::pair<char const*, double>, 3> figures_of(attachment_scores const& s) {
  return {std::pair("exact match", s.exact_match()), {"UAS", s.uas()}, {"LAS", s.las()}};
}

/// "test  exact match 12.34  UAS 90.12  LAS 88.00  (100 sentences, 900 words)"
inline std::string told(part_scores const& p) {
  std::string text = p.part;
  for (auto const& [name, value] : figures_of(p.scores)) text += std::string("  ") + name + " " + percent(value);
  return text + "  (" + std::to_string(p.scores.sentences) + " sentences, " + std::to_string(p.scores.words) +
         " words)";
}

/// A row for each seed and part, and of several seeds the means with standard errors of those that have a score.
inline std::string table_of(std::vector<run_scores> const& runs) {
  triad::examples::text_table table({"seed", "part", "exact match", "UAS", "LAS"});
  for (auto const& run : runs)
    for (auto const& p : run.parts)
      table.row({std::to_string(run.seed), p.part, percent(p.scores.exact_match()), percent(p.scores.uas()),
                 percent(p.scores.las())});
  auto const* const one = triad::examples::first_scored(runs);
  if (runs.size() < 2 || !one) return table.text();
  for (std::size_t part = 0; part < one->parts.size(); ++part) {
    std::vector<std::string> mean{"mean", one->parts[part].part}, error{"+-", ""};
    for (std::size_t f = 0; f < 3; ++f) {
      auto const m = triad::examples::mean_over(
          runs, [&](run_scores const& run) { return figures_of(run.parts[part].scores)[f].second; });
      mean.push_back(percent(m.mean));
      error.push_back(percent(m.standard_error));
    }
    table.row(mean).row(error);
  }
  return table.text();
}

/// seed,part,figure,value
inline std::string scores_csv(std::vector<run_scores> const& runs) {
  std::string text = "seed,part,figure,value\n";
  for (auto const& run : runs)
    for (auto const& p : run.parts)
      for (auto const& [name, value] : figures_of(p.scores))
        text += std::to_string(run.seed) + "," + p.part + "," + name + "," + percent(value) + "\n";
  return text;
}

}  // namespace dependency
