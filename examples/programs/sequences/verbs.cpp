// The verbs `evaluate` and `predict` of all sequence-to-sequence programs, and the scores that they print.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "score.hpp"
#include "shared/cli/outputs.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/given_answers.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/table.hpp"
#include "shared/run/seed_means.hpp"
#include "trained.hpp"
#include "translate.hpp"

namespace triad::programs::sequences {

part_scores score(program const& p, test_part const& part, std::vector<std::string> const& hypotheses) {
  auto const kinds = right_ones(p.right, part.pairs, hypotheses);
  part_scores r{part.name, {{"exact match", total(kinds).percent()}}, static_cast<long long>(part.pairs.size())};
  if (kinds.size() > 1)
    for (auto const& [kind, s] : kinds) r.kinds.push_back({kind, s.percent(), static_cast<long long>(s.all)});
  if (p.figures)
    for (auto const& f : p.figures(part, hypotheses)) r.figures.push_back(f);
  return r;
}

namespace {
/// Returns the name that is printed for a score of scores.csv.  "BLEU none" becomes "BLEU tok:none", as in sacreBLEU.
std::string shown_name(std::string const& figure) {
  std::string const bleu = "BLEU ";
  return figure.starts_with(bleu) ? bleu + "tok:" + figure.substr(bleu.size()) : figure;
}
}  // namespace

std::string told(part_scores const& r) {
  std::vector<std::string> columns;  // of the table of kinds: the scores of one kind
  for (auto const& f : r.figures)
    if (!f.kind.empty() && std::find(columns.begin(), columns.end(), f.name) == columns.end())
      columns.push_back(f.name);
  auto text = printable_name(r.part);
  for (auto const& f : r.figures)
    if (f.kind.empty()) text += fmt::format("  {} {:.1f}", shown_name(f.name), f.value);
  text += '\n';
  if (r.kinds.empty()) return text;
  std::vector<std::string> header{r.part, "right", "sentences"};
  header.insert(header.end(), columns.begin(), columns.end());
  text_table table(header);
  for (auto const& [kind, percent, all] : r.kinds) {
    std::vector<std::string> row{kind, fmt::format("{:.1f}", percent), std::to_string(all)};
    for (auto const& column : columns) {
      auto const found = std::find_if(r.figures.begin(), r.figures.end(),
                                      [&](figure const& f) { return f.name == column && f.kind == kind; });
      row.push_back(found == r.figures.end() ? "" : fmt::format("{:.1f}", found->value));
    }
    table.row(row);
  }
  return text + table.text();
}

std::string means_of(std::vector<scored_run> const& runs) {
  auto const mean_text = whose_mean(runs, runs.front().seed) + "\n";
  auto const* const one = first_scored(runs);
  if (!one) return mean_text;
  text_table table({"", "mean", "+-"});
  for (std::size_t part = 0; part < one->parts.size(); ++part)
    for (std::size_t f = 0; f < one->parts[part].figures.size(); ++f) {
      auto const m = mean_over(runs, [&](scored_run const& run) { return run.parts[part].figures[f].value; });
      table.row({one->parts[part].part + "  " + shown_name(one->parts[part].figures[f].title()),
                 fmt::format("{:.1f}", m.mean), fmt::format("{:.2f}", m.standard_error)});
    }
  return mean_text + table.text();
}

std::string scores_csv(std::vector<scored_run> const& runs) {
  return scores_csv(runs, [](double value) { return fmt::format("{:.6g}", value); });
}

namespace {

std::string lines_file(std::string const& part) { return part + ".hypotheses.txt"; }

}  // namespace

void write_lines(std::string const& folder, std::string const& part, std::vector<std::string> const& lines) {
  if (folder.empty()) return;
  std::string text;
  for (auto const& line : lines) text += line + "\n";
  first_writes(folder + "/" + lines_file(part), text);
}

namespace {

int evaluate(options const& o, program const& p) {
  expect_tests(p);
  expect_search(o);
  std::vector<std::string> files{"scores.csv"};
  for (auto const& part : p.data.tests) files.push_back(lines_file(part.name));
  expect_free_in_folder(o, files);
  vocabulary* known = nullptr;  // the vocabulary of the model
  index_t least = 0;            // the error about missing memory names sources with more tokens
  auto model = trained_translator(o, use::translating,
                                  [&](vocabulary& words, options const& shape) {
                                    p.expect_words(words);
                                    for (auto const& part : p.data.tests)
                                      expect_readable(shape, words, part.name, part.pairs);
                                    auto const longest = longest_source(p.data, words);
                                    known = &words;
                                    least = std::max(words.longest_source, index_t{nearly(longest.source)});
                                    return longest;
                                  },
                                  {.batches = "translating with it",
                                   .remedy = "give a smaller --beam or --max-length",
                                   .unit = "tokens",
                                   .larger = [&] { return larger_sources(p.data, *known, least); }});
  if (!o.out.empty()) make_folder(o.out);
  scored_run found;
  found.seed = model.seed;
  for (auto const& part : p.data.tests) {
    auto const missing = unknown_in(part, model.words);
    if (!missing.empty()) say("{}{}\n", part.name, missing);
    auto const hypotheses = translations(*model.net, part.pairs, model.words, search_of(o, model.words));
    write_lines(o.out, part.name, hypotheses);
    found.parts.push_back(score(p, {part.name, with_tokens(part.pairs, model.words.target)}, hypotheses));
    fmt::print("{}\n", told(found.parts.back()));
    std::fflush(stdout);
  }
  if (!o.out.empty()) first_writes(o.out + "/scores.csv", scores_csv({found}));
  return 0;
}

double probability_of(hypothesis const& h) { return std::exp(h.log_probability); }

/// Returns `line`, a question as JSON, with its best translation, or with several translations and their scores.  All
/// other members are copied.
std::string json_answer(std::string const& line, std::vector<hypothesis> const& found, language const& target,
                        bool several, bool probabilities) {
  if (!several) {
    json_members members{{"target", found.empty() ? "" : target.decode(found.front().tokens)}};
    if (probabilities && !found.empty())
      members.emplace_back("probability", four_digits(probability_of(found.front())));
    return with_members(line, members);
  }
  auto targets = nlohmann::ordered_json::array();
  for (auto const& h : found) {
    auto& one = targets.emplace_back();
    one["target"] = target.decode(h.tokens), one["score"] = h.score;
    if (probabilities) one["probability"] = four_digits(probability_of(h));
  }
  return with_members(line, {{"targets", std::move(targets)}});
}

int predict(options const& o) {
  expect_search(o);
  o.questions.expect_one_way({{"--sentence", !o.sentence.empty()}});
  index_t most = 0;  // largest number of tokens of a sentence
  if (o.n_best > o.beam) refuse("--n-best {} needs a --beam of as many", o.n_best);
  auto model = trained_translator(o, use::translating, [&](vocabulary& words, options const& shape) {
    most = most_of_unknown(shape, words);
    if (!o.sentence.empty())
      most = std::min(most, std::max<index_t>(1, static_cast<index_t>(words.source.encode(o.sentence).size())));
    return pair_length{most, 0};
  });
  auto const how = search_of(o, model.words, o.n_best);
  given_answers targets("a target");
  unknown_words replaced;
  auto const is_same = [&](nlohmann::json const& target, std::string const& answer) {
    return target.is_string() &&
           text::words(model.words.target.tokens(target.get<std::string>())) == text::words(answer);
  };
  auto const answer = [&](std::string const& line) {
    bool const is_json = line.starts_with('{');
    if (!is_json) expect_plain_question(line);
    auto const question = is_json ? read_json_line(line) : nlohmann::json();
    auto const source = is_json ? member<std::string>(question, "source", "a text") : line;
    auto const numbers = model.words.source.encode(source);
    auto const print = [&](std::vector<hypothesis> const& found) {
      if (is_json && o.n_best == 1) {  // only a single translation replaces the question's target
        auto const target = given_answer(question, "target");
        auto const text = found.empty() ? std::string() : model.words.target.decode(found.front().tokens);
        targets.add(!target.is_null(), is_same(target, text));
      }
      if (is_json)
        return programs::answer(json_answer(line, found, model.words.target, o.n_best > 1, o.probabilities) + "\n");
      if (found.empty()) programs::answer("\n");
      for (auto const& h : found) {
        auto const text = model.words.target.decode(h.tokens);
        auto const probability = o.probabilities ? fmt::format("{:.4f}\t", probability_of(h)) : std::string();
        if (o.n_best > 1)
          programs::answer(fmt::format("{:.4f}\t{}{}\n", h.score, probability, text));
        else
          programs::answer(probability + text + "\n");
      }
    };
    if (numbers.empty()) return print({});  // the answer to an empty sentence is an empty line
    auto const missing = model.words.source.unknown(source);
    if (!o.unknown && !missing.empty())
      refuse("\"{}\" is not one of the {} words that the model knows; --unknown translates it as <unk>",
             shortened(missing.front()), model.words.source.ordinary());
    if (static_cast<index_t>(numbers.size()) > most)
      refuse("the sentence has {} tokens; at most {} are read by this model: split it", numbers.size(), most);
    replaced.add(missing);
    translate_all(*model.net, {numbers}, how, [&](std::size_t, std::vector<hypothesis> const& found) { print(found); });
    std::fflush(stdout);
  };
  int status = 0;
  if (o.sentence.empty())
    status = o.questions.answer(o.program, answer);
  else
    answer(o.sentence);
  note(o.program, targets.note());
  if (replaced.count > 0)
    note(o.program,
         fmt::format("read as <unk>: {} unknown words, such as '{}'", replaced.count, shortened(replaced.first)));
  return status;
}

}  // namespace

std::vector<verb> verbs_of(options& o, program_maker const& make) {
  return {{"train", "Train, and translate the test parts", [&o, make] { return train(o, make(true, true)); }},
          {"evaluate", "Translate the test parts with a trained model, and measure the translations",
           [&o, make] { return evaluate(o, make(false, true)); }},
          {"predict", "Translate a sentence, or each line of a file or of standard input", [&o] { return predict(o); }},
          {"explain", "How much layers read from earlier ones, and words from each other, in the data or a sentence",
           [&o, make] { return explain(o, o.sentence.empty() ? make(false, false) : program()); }}};
}

}  // namespace triad::programs::sequences
