// What is measured of translations: the share of right ones, by kind of sentence where there are kinds; BLEU; and
// tables of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "../atomic_file.hpp"
#include "../seed_means.hpp"
#include "../table.hpp"
#include "triad/io/text/bleu.hpp"
#include "verbs.hpp"

namespace seq2seq {

struct share {
  std::size_t right = 0, all = 0;

  double percent() const { return all == 0 ? 0 : 100 * static_cast<double>(right) / static_cast<double>(all); }
};

struct report {
  std::string part;
  std::vector<figure> figures;
  std::map<std::string, share> kinds;  // empty where there is but one
};

/// What the translations of one run are worth.
struct run_scores {
  std::uint64_t seed;
  std::vector<report> reports;  // of every part; none where it diverged
  bool diverged = false, failed = false;
};

inline std::string shown(double value, char const* format = "%.1f") {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// One or more tokenisations of BLEU over the lines as they are.
inline std::vector<figure> bleu_figures(std::vector<std::string> const& hypotheses,
                                        std::vector<std::string> const& references,
                                        std::initializer_list<triad::text::bleu_tokens> ways) {
  std::vector<figure> result;
  for (auto const way : ways)
    result.push_back(
        {"BLEU " + std::string(triad::text::name(way)), triad::text::corpus_bleu(hypotheses, references, way).score});
  return result;
}

inline std::vector<std::string> references_of(test_part const& part) {
  std::vector<std::string> result;
  for (auto const& pair : part.pairs) result.push_back(pair.target);
  return result;
}

inline share right_ones(program const& p, std::vector<text_pair> const& pairs,
                        std::vector<std::string> const& hypotheses) {
  share s;
  for (std::size_t i = 0; i < pairs.size(); ++i) s.right += p.right(hypotheses[i], pairs[i].target) ? 1 : 0, ++s.all;
  return s;
}

inline report score(program const& p, test_part const& part, std::vector<std::string> const& hypotheses) {
  report r{part.name, {{"exact match", right_ones(p, part.pairs, hypotheses).percent()}}, {}};
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    auto& kind = r.kinds[part.pairs[i].kind];
    kind.right += p.right(hypotheses[i], part.pairs[i].target) ? 1 : 0, ++kind.all;
  }
  if (r.kinds.size() < 2) r.kinds.clear();
  if (p.figures)
    for (auto const& f : p.figures(part, hypotheses)) r.figures.push_back(f);
  return r;
}

/// "test  exact match 12.3  BLEU none 45.6"; a line, and a table of kinds behind it.
inline std::string told(report const& r) {
  std::string text = r.part;
  for (auto const& f : r.figures) text += "  " + f.name + " " + shown(f.value);
  text += '\n';
  if (r.kinds.empty()) return text;
  triad::examples::text_table table({r.part, "right", "sentences"});
  for (auto const& [kind, s] : r.kinds) table.row({kind, shown(s.percent()), std::to_string(s.all)});
  return text + table.text();
}

/// Mean and standard error of every figure over the runs that have a score, which have the same parts, and which runs
/// these are.
inline std::string means_of(std::vector<run_scores> const& runs) {
  auto const said = triad::examples::whose_mean(runs, runs.front().seed) + "\n";
  auto const* const one = triad::examples::first_scored(runs);
  if (!one) return said;
  auto const& parts = one->reports;
  triad::examples::text_table table({"", "mean", "+-"});
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (std::size_t f = 0; f < parts[part].figures.size(); ++f) {
      auto const m =
          triad::examples::mean_over(runs, [&](run_scores const& run) { return run.reports[part].figures[f].value; });
      table.row(
          {parts[part].part + "  " + parts[part].figures[f].name, shown(m.mean), shown(m.standard_error, "%.2f")});
    }
  return said + table.text();
}

/// seed,part,figure,value
inline std::string scores_csv(std::vector<run_scores> const& runs) {
  std::string text = "seed,part,figure,value\n";
  auto const add = [&](std::uint64_t seed, std::string const& part, std::string const& name, double value) {
    text += std::to_string(seed) + "," + part + "," + name + "," + shown(value, "%.6g") + "\n";
  };
  for (auto const& run : runs)
    for (auto const& r : run.reports) {
      for (auto const& f : r.figures) add(run.seed, r.part, f.name, f.value);
      for (auto const& [kind, s] : r.kinds) add(run.seed, r.part, "exact match of " + kind, s.percent());
    }
  return text;
}

/// The translations of a part as a file of a folder; none where there is no folder.
inline void write_lines(std::string const& folder, std::string const& part, std::vector<std::string> const& lines) {
  if (folder.empty()) return;
  std::string text;
  for (auto const& line : lines) text += line + "\n";
  triad::examples::write_atomically(folder + "/" + part + ".hypotheses.txt", text);
}

}  // namespace seq2seq
