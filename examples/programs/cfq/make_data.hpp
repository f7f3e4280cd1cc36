// The verbs that make data: `generate` writes questions, and `split` divides a corpus.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "corpus.hpp"
#include "generate.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/new_data.hpp"
#include "split.hpp"

namespace triad::programs::cfq {

/// Options of the two verbs.
struct making {
  std::string data, out;  // split: a file of annotated questions; the output folder
  int count = 20000, depth = 3;
  std::uint64_t seed = 1;
  int train = 0, held_out = 0;  // numbers of questions; 0: two fifths of the corpus, and a tenth
  int compound_size = 5, candidates = 5, passes = 30;
  double atom_limit = 0.02;

  void each(option_list& f) {
    f("out", &out, "Folder of all.tsv, all.conllu and rules.jsonl").only({"generate"}).required().file_or_folder();
    f("count", &count, "Questions").only({"generate"}).positive();
    f("depth", &depth, "How often phrases stand inside of others, at most").only({"generate"}).between(0, 6);
    f("seed", &seed, "Of the questions, and of how they are taken apart").only({"generate", "split"});
    f("data", &data,
      "File of questions with the rules that derive them, such as rules.jsonl; docs/data.md has the format")
        .only({"split"})
        .required();
    f("out", &out, "Folder of train, dev and test, .tsv and .conllu, and split.json")
        .only({"split"})
        .required()
        .file_or_folder();
    f("train", &train, "Training questions; 0: two fifths of all").only({"split"}).not_negative();
    f("dev-and-test", &held_out, "Questions of dev and test together; 0: a tenth of all")
        .only({"split"})
        .not_negative();
    f("atom-limit", &atom_limit, "Largest divergence of atoms").only({"split"}).between(0.0, 1.0);
    f("compound-size", &compound_size, "Rules of a compound, at most").only({"split"}).between(2, 6);
    f("candidates", &candidates, "Questions looked at for each that comes in").only({"split"}).between(1, 10000);
    f("passes", &passes, "Over all questions, twice at most").only({"split"}).between(1, 10000);
  }
};

namespace detail {

inline std::string count_of(std::size_t questions) { return fmt::format("{} questions", questions); }

/// Adds the file NAME.tsv of one part of the corpus.  Adds NAME.conllu too, if the dependencies of all questions are
/// known.
inline void add_part(std::vector<new_file>& files, std::string const& name, corpus const& c,
                     std::vector<int> const& numbers) {
  std::string pairs, trees;
  bool known = true;
  for (int const i : numbers) {
    auto const& q = c.questions[static_cast<std::size_t>(i)];
    pairs += q.question + "\t" + q.query + "\n";
    known = known && !q.heads.empty();
    if (known) trees += to_conllu(q);
  }
  files.push_back({name + ".tsv", std::move(pairs), count_of(numbers.size())});
  if (known) files.push_back({name + ".conllu", std::move(trees), count_of(numbers.size())});
}

}  // namespace detail

inline int generate(making const& m) {
  auto const c = generate_questions(m.count, m.seed, m.depth);
  std::vector<int> all(c.questions.size());
  std::string lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<int>(i);
    lines += to_line(c.questions[i], c.names) + "\n";
  }
  std::vector<new_file> files;
  detail::add_part(files, "all", c, all);
  files.push_back({"rules.jsonl", std::move(lines), detail::count_of(all.size())});
  write_data(m.out, files);
  return 0;
}

/// The verb split.  If the divergence of the atoms exceeds the given limit, returns did_not_reach.
inline int split(making const& m) {
  int repeated = 0;
  auto const c = read_corpus(m.data, repeated);
  if (repeated > 0) fmt::print("{} questions left out that are there before\n", repeated);
  auto s = settings_for(c.questions.size(), m.seed);
  if (m.train > 0) s.train = m.train;
  if (m.held_out > 0) s.held_out = m.held_out;
  s.atom_limit = m.atom_limit;
  s.candidates = m.candidates;
  s.passes = m.passes;
  auto const d = make_split(c, s, m.compound_size);
  fmt::print("{} questions, {} rules, {} compounds of 2 to {} rules\n\n", c.questions.size(), c.names.size(),
             d.compounds, m.compound_size);
  fmt::print("{:<10}  {:>7}  {:>6}  {:>6}  {:>19}  {:>23}\n", "", "train", "dev", "test", "divergence of atoms",
             "divergence of compounds");
  auto const row = [&](char const* name, double atoms, double compounds) {
    fmt::print("{:<10}  {:>7}  {:>6}  {:>6}  {:>19.4f}  {:>23.4f}\n", name, d.train.size(), d.dev.size(), d.test.size(),
               atoms, compounds);
  };
  row("this split", d.atoms_apart, d.compounds_apart);
  row("by chance", d.atoms_by_chance, d.compounds_by_chance);
  fmt::print("\n");

  std::vector<new_file> files;
  detail::add_part(files, "train", c, d.train);
  detail::add_part(files, "dev", c, d.dev);
  detail::add_part(files, "test", c, d.test);
  nlohmann::ordered_json json;
  json["seed"] = m.seed;
  json["atom_limit"] = m.atom_limit;
  json["compound_size"] = m.compound_size;
  json["candidates"] = m.candidates;
  json["passes"] = m.passes;
  json["atom_divergence"] = d.atoms_apart;
  json["compound_divergence"] = d.compounds_apart;
  json["by_chance"] = {{"atom_divergence", d.atoms_by_chance}, {"compound_divergence", d.compounds_by_chance}};
  json["trainIdxs"] = d.train;
  json["devIdxs"] = d.dev;
  json["testIdxs"] = d.test;
  files.push_back({"split.json", json.dump() + "\n", {}});
  write_data(m.out, files);
  if (d.atoms_apart <= m.atom_limit) return 0;
  fmt::print(
      "the atoms are further apart than {:g}: give fewer questions with --train and --dev-and-test, or more --passes  "
      "failed\n",
      m.atom_limit);
  return did_not_reach;
}

}  // namespace triad::programs::cfq
