// The verb `compounds`: CTER of cg-test by the length of compounds and of sentences, and with and without a modifier.
// It reads the translations that runs wrote, so it needs no model.  These are Figures 5 and 6 of the LRF paper.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cter.hpp"
#include "data.hpp"
#include "score.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/csv.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/svg_bars.hpp"
#include "shared/report/svg_plot.hpp"
#include "shared/report/table.hpp"
#include "shared/run/run_folder.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::cognition {

/// Lines of cg-test, and those whose compound is translated wrongly.
struct wrong_lines {
  long lines = 0, wrong = 0;

  /// The error rate, from 0 to 1.
  [[nodiscard]] double rate() const { return static_cast<double>(wrong) / static_cast<double>(lines); }
};

/// The errors of one run.
struct compound_errors {
  std::string run;
  std::map<std::size_t, wrong_lines> by_compound;  // by the number of words of the compound
  std::map<std::size_t, wrong_lines> by_sentence;  // by the number of words and marks of the source sentence
  wrong_lines without_modifier, with_modifier;
};

/// Counts the errors of translations.  Translation i is of pairs[i], whose compound is list.compounds[i].
inline compound_errors errors_by_length(std::string run, std::vector<text_pair> const& pairs, compound_list const& list,
                                        std::vector<std::string> const& hypotheses) {
  compound_errors found{std::move(run), {}, {}, {}, {}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto const& compound = list.compounds[i];
    bool const wrong = !translates(hypotheses[i], compound, list.known);
    auto const atoms = list.known.atoms_of(compound);
    bool const modified = std::any_of(atoms.begin(), atoms.end(), [&](std::string const& atom) {
      return list.known.class_of(atom) == atom_class::modifier;
    });
    for (auto* const counts :
         {&found.by_compound[text::words(compound).size()], &found.by_sentence[text::words(pairs[i].source).size()],
          modified ? &found.with_modifier : &found.without_modifier}) {
      ++counts->lines;
      counts->wrong += wrong ? 1 : 0;
    }
  }
  return found;
}

namespace detail {

/// Returns the line of a plot.  Neighbouring lengths are put together until a point has `least` lines; a point is at
/// the mean length of its lines.
inline series line_of(std::string const& run, std::map<std::size_t, wrong_lines> const& by_length, long least) {
  struct point {
    wrong_lines counts;
    double sum = 0;  // of lengths
  };
  std::vector<point> points;
  for (auto const& [length, counts] : by_length) {
    if (points.empty() || points.back().counts.lines >= least) points.emplace_back();
    auto& p = points.back();
    p.counts.lines += counts.lines;
    p.counts.wrong += counts.wrong;
    p.sum += static_cast<double>(length) * static_cast<double>(counts.lines);
  }
  if (points.size() > 1 && points.back().counts.lines < least) {
    auto const last = points.back();
    points.pop_back();
    points.back().counts.lines += last.counts.lines;
    points.back().counts.wrong += last.counts.wrong;
    points.back().sum += last.sum;
  }
  series line{run, {}, {}};
  for (auto const& p : points) {
    line.x.push_back(p.sum / static_cast<double>(p.counts.lines));
    line.y.push_back(100 * p.counts.rate());
  }
  return line;
}

inline std::string percent(wrong_lines const& counts) {
  return counts.lines == 0 ? "" : fmt::format("{:.1f}", 100 * counts.rate());
}

inline std::string folder_or_here(std::filesystem::path const& folder) {
  return folder.empty() ? "." : folder.string();
}

inline std::string file_of_run(std::string const& run, char const* name) {
  return (std::filesystem::path(run) / name).string();
}

/// Returns the translations of cg-test that a run wrote.  Throws data_error if they are missing, or if there is not one
/// for each sentence.
inline std::vector<std::string> translations_of_run(std::string const& run, compound_list const& list) {
  auto const path = file_of_run(run, "cg-test.hypotheses.txt");
  std::error_code none;
  if (!std::filesystem::exists(path, none))
    refuse("{}: there is none; evaluate {} --out {} --force writes it", path, run, run);
  auto lines = unsegmented(read_lines(path));
  if (lines.size() != list.compounds.size())
    refuse("{}: {} lines, expected {}, one for each sentence of cg-test; give the data of the run with --data", path,
           lines.size(), list.compounds.size());
  return lines;
}

/// Throws data_error if the scores.csv of a run has another CTER than the errors that were counted.
inline void expect_recorded(std::string const& run, compound_errors const& found) {
  auto const path = file_of_run(run, "scores.csv");
  std::error_code none;
  if (!std::filesystem::exists(path, none)) {
    say("{} has no scores.csv, so nothing shows that its translations are of these data\n", run);
    return;
  }
  wrong_lines all;
  for (auto const& counts : {found.without_modifier, found.with_modifier})
    all.lines += counts.lines, all.wrong += counts.wrong;
  csv_file scores(path);
  auto const part = scores.column("part"), figure = scores.column("figure"), value = scores.column("value");
  while (scores.next()) {
    if (scores[part] != "cg-test" || scores[figure] != "CTER instance") continue;
    auto const recorded = std::strtod(std::string(scores[value]).c_str(), nullptr);
    if (!(std::abs(recorded - 100 * all.rate()) <= 1e-3))  // also if it is no number
      refuse("{}: CTER instance is {:.4f}, and {} has {:.4f}; give the data of the run with --data", path, recorded,
             file_of_run(run, "cg-test.hypotheses.txt"), 100 * all.rate());
  }
}

}  // namespace detail

/// Returns CSV with the columns run,by,value,lines,wrong,CTER.
inline std::string compounds_csv(std::vector<compound_errors> const& runs) {
  std::string text = "run,by,value,lines,wrong,CTER\n";
  for (auto const& r : runs) {
    auto const add = [&](char const* by, std::string const& value, wrong_lines const& counts) {
      if (counts.lines > 0)
        text += fmt::format("{},{},{},{},{},{:.6g}\n", csv_cell(r.run), by, value, counts.lines, counts.wrong,
                            100 * counts.rate());
    };
    for (auto const& [length, counts] : r.by_compound) add("words of compound", std::to_string(length), counts);
    for (auto const& [length, counts] : r.by_sentence) add("words of sentence", std::to_string(length), counts);
    add("modifier", "without", r.without_modifier);
    add("modifier", "with", r.with_modifier);
  }
  return text;
}

/// The verb.  Throws data_error if the data have no compounds, or if a run has no translations of them.
inline int compounds(options const& o) {
  if (o.task != "cognition")
    refuse("{} with --task {}: expected data of cognition, which have compounds; give such a run with its --data",
           o.run, o.task);
  expect_free_in_folder(o, {"compounds.csv", "compound_length.svg", "sentence_length.svg", "modifiers.svg"});
  auto const data = data_of(o, false);
  auto const list = read_compounds(o.data, data);
  if (!list) refuse("{}: there are no compounds of cg-test with their lexicon; give other data with --data", o.data);
  auto const part = std::find_if(data.tests.begin(), data.tests.end(),
                                 [](sequences::test_part const& p) { return p.name == "cg-test"; });
  std::vector<std::string> folders{o.run};
  folders.insert(folders.end(), o.with.begin(), o.with.end());
  for (auto& folder : folders)  // a run may also be named by its checkpoint
    if (folder.ends_with("model.safetensors"))
      folder = detail::folder_or_here(std::filesystem::path(folder).parent_path());
  std::vector<compound_errors> runs;
  auto const last_name = [](std::string const& folder) {
    auto path = std::filesystem::path(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    return path.filename().string();
  };
  for (auto const& folder : folders) {
    bool const alone = std::count_if(folders.begin(), folders.end(), [&](std::string const& other) {
                         return last_name(other) == last_name(folder);
                       }) == 1;
    runs.push_back(errors_by_length(alone ? last_name(folder) : folder, part->pairs, *list,
                                    detail::translations_of_run(folder, *list)));
    detail::expect_recorded(folder, runs.back());
  }

  std::vector<std::string> names;
  for (auto const& r : runs) names.push_back(r.run);
  auto const table_of = [&](std::string const& title) {
    std::vector<std::string> header{title, "sentences"};
    header.insert(header.end(), names.begin(), names.end());
    return text_table(std::move(header));
  };
  auto const add = [&](text_table& table, std::string const& value, auto const& counts_of) {
    std::vector<std::string> row{value, std::to_string(counts_of(runs.front()).lines)};
    for (auto const& r : runs) row.push_back(detail::percent(counts_of(r)));
    table.row(row);
  };
  fmt::print("CTER, instance\n\n");
  auto of_modifiers = table_of("");
  add(of_modifiers, "without a modifier", [](compound_errors const& r) { return r.without_modifier; });
  add(of_modifiers, "with a modifier", [](compound_errors const& r) { return r.with_modifier; });
  fmt::print("{}\n", of_modifiers.text());
  auto const lengths = [&](char const* title, auto const& by) {
    auto table = table_of(title);
    for (auto const& [length, counts] : by(runs.front()))
      add(table, std::to_string(length), [&, at = length](compound_errors const& r) { return by(r).at(at); });
    fmt::print("{}\n", table.text());
  };
  auto const of_compounds = [](compound_errors const& r) -> auto const& { return r.by_compound; };
  auto const of_sentences = [](compound_errors const& r) -> auto const& { return r.by_sentence; };
  lengths("words of the compound", of_compounds);
  lengths("words of the sentence", of_sentences);
  if (o.out.empty()) return 0;

  make_folder(o.out);
  first_writes(o.out + "/compounds.csv", compounds_csv(runs));
  auto const draw = [&](char const* file, char const* title, char const* x, auto const& by) {
    plot picture{title, x, "CTER, instance (%)"};
    for (auto const& r : runs) picture.lines.push_back(detail::line_of(r.run, by(r), 50));
    picture.y_from = 0;
    write_svg(o.out + "/" + file, picture);
  };
  draw("compound_length.svg", "Errors by the length of the compound", "words of the compound", of_compounds);
  draw("sentence_length.svg", "Errors by the length of the sentence", "words of the sentence", of_sentences);
  bar_chart bars{"Errors without and with a modifier", {"CTER, instance"}, {}};
  for (bool const with : {false, true}) {
    auto& group = bars.groups.emplace_back();
    group.name = with ? "with a modifier" : "without a modifier";
    for (auto const& r : runs) {
      auto const& counts = with ? r.with_modifier : r.without_modifier;
      if (counts.lines > 0) group.rows.push_back({r.run, {counts.rate()}});
    }
  }
  write_svg(o.out + "/modifiers.svg", bars);
  say("compounds.csv and three pictures are in {}\n", o.out);
  return 0;
}

}  // namespace triad::programs::cognition
