// Reads or generates data of CFQ, and scores queries.  The order of a query's conjuncts does not matter.  The verbs are
// those of all sequence-to-sequence programs.
// SPDX-License-Identifier: Apache-2.0
//
//   without --data                 generated questions, split by divergence of compounds (make_split)
//   --data FOLDER                  train.tsv, dev.tsv, test.tsv with the columns question and query; train_partial.tsv,
//                                  which parts of MCWQ have, may replace train.tsv
//   --data FOLDER/dataset.json     the published file, or its folder; --split is a file, or the NAME of
//                                  FOLDER/splits/NAME.json
// Any file may be gzipped.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cfq/conjuncts.hpp"
#include "cfq/dataset.hpp"
#include "cfq/generate.hpp"
#include "cfq/split.hpp"
#include "options.hpp"
#include "sequences/data.hpp"
#include "sequences/program.hpp"
#include "sequences/score.hpp"
#include "sequences/vocabulary.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/data/text_pairs.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::cfq_sequences {

using cfq::raw_token;

inline std::string const where = "docs/data.md says where the data come from";

inline sequences::data_set generated_data(options const& o) {
  auto const c = cfq::generate_questions(o.questions_made, o.data_seed);
  auto const found = cfq::make_split(c, cfq::settings_for(c.questions.size(), o.data_seed), 5);
  auto const pairs = [&](std::vector<int> const& numbers) {
    std::vector<text_pair> result;
    for (int const i : numbers)
      result.push_back(
          {c.questions[static_cast<std::size_t>(i)].question, c.questions[static_cast<std::size_t>(i)].query, {}});
    return result;
  };
  sequences::data_set d{pairs(found.train), pairs(found.dev), {}};
  d.tests = {{"dev", d.dev}, {"test", pairs(found.test)}};
  std::printf("%zu generated questions; divergence of atoms %.3f, of compounds %.3f\n", c.questions.size(),
              found.atoms_apart, found.compounds_apart);
  return d;
}

/// If --data names dataset.json or its folder, returns the path of dataset.json.  Otherwise returns an empty string.
inline std::string dataset_in(std::string const& data) {
  if (std::filesystem::is_directory(data)) return find_file(data, {"dataset.json"});
  return data.ends_with(".json") || data.ends_with(".json.gz") ? data : std::string();
}

inline sequences::data_set read_published(options const& o, std::string const& file) {
  if (o.split.empty()) refuse("{}: give its split, too, with --split FILE, or --split mcd1 for splits/mcd1.json", file);
  auto const folder = std::filesystem::path(file).parent_path().string();
  auto const split = std::filesystem::is_regular_file(o.split)
                         ? o.split
                         : need_file(folder.empty() ? "." : folder, {"splits/" + o.split + ".json"},
                                     "--split is a file, or a name of one there");
  return cfq::read_dataset(file, split);
}

inline sequences::data_set read_folder(std::string const& folder, bool needs_train) {
  auto const partial =
      find_file(folder, {"train.tsv", "train.txt"}).empty() ? find_file(folder, {"train_partial.tsv"}) : std::string();
  // Raw queries differ from preprocessed queries, so scores on raw queries cannot be compared with scores on
  // preprocessed queries.
  auto const expect_preprocessed = [](text_pair const& pair) {
    if (auto const raw = raw_token(pair.target); !raw.empty())
      refuse(
          "the query has \"{}\", expected one that is preprocessed, without ns: and with count ( * ): give CFQ's "
          "dataset.json and its split, which is preprocessed here",
          shortened(raw));
  };
  auto const expect = needs_train ? expect_preprocessed : std::function<void(text_pair const&)>();
  auto d = sequences::read_columns(folder, needs_train && partial.empty(),
                                   "expected train.tsv, dev.tsv and test.tsv, or CFQ's dataset.json; " + where, expect);
  if (needs_train && !partial.empty()) {
    d.train = read_pairs(partial, expect);
    say("{}: a part of the training set alone\n", partial);
  }
  return d;
}

/// Returns the first token in the queries of the test parts for which raw_token() says that the query is not
/// preprocessed.  Returns an empty string if there is none.
inline std::string raw_token(sequences::data_set const& d) {
  for (auto const& part : d.tests)
    for (auto const& pair : part.pairs)
      if (auto token = raw_token(pair.target); !token.empty()) return token;
  return {};
}

/// `raw` is the raw_token() of the data.  Throws data_error if the data have raw queries and the model was trained on
/// preprocessed queries, or the other way round, because no answer of the model would be right.
inline void expect_same_form(std::string const& raw, sequences::dictionary const& words) {
  std::string known;
  for (auto n = sequences::dictionary::specials; n < words.size() && known.empty(); ++n)
    known = raw_token(words.token(n));
  if (raw.empty() == known.empty()) return;
  throw data_error(
      known.empty()
          ? "the data's queries are raw, with \"" + shortened(raw) +
                "\", and those of the run's training were preprocessed: give CFQ's dataset.json and its split, "
                "which is preprocessed here"
          : "the run was trained on raw queries, with \"" + shortened(known) +
                "\", and those of the data are preprocessed: give it data like its own, or train on CFQ's "
                "dataset.json");
}

/// Reads or generates the data that the options name.  If `needs_train`, the data must have a training part.  Throws
/// data_error.
inline sequences::data_set data_of(options const& o, bool needs_train) {
  auto const published = o.data.empty() ? std::string() : dataset_in(o.data);
  // Only options on the command line are refused, because config.toml may have options for other data.
  if (published.empty()) refuse_given(o, {"split"}, "CFQ's dataset.json: give that, or its folder, with --data");
  refuse_generated(o, {"questions", "data-seed"}, "questions");
  refuse_other_data(o, {"questions", "data-seed"});
  auto d = o.data.empty()      ? generated_data(o)
           : published.empty() ? read_folder(o.data, needs_train)
                               : read_published(o, published);
  if (o.sort_conjuncts) {
    auto const sort = [](std::vector<text_pair>& pairs) {
      for (auto& pair : pairs) pair.target = cfq::sorted_conjuncts(pair.target);
    };
    sort(d.train);
    sort(d.dev);
    for (auto& part : d.tests) sort(part.pairs);
  }
  return d;
}

inline sequences::program program_of(options const& o, bool needs_train) {
  sequences::program p{data_of(o, needs_train)};
  if (!needs_train)
    p.expect_words = [raw = raw_token(p.data)](sequences::vocabulary const& words) {
      expect_same_form(raw, words.target.words());
    };
  p.figures = [](sequences::test_part const& part, std::vector<std::string> const& found) {
    auto const same = sequences::right_ones(cfq::same_conjuncts, part.pairs, found);
    return std::vector<figure>{{"up to the order of conjuncts", sequences::total(same).percent()}};
  };
  return p;
}

/// Returns the verbs train, evaluate, predict and explain.
inline std::vector<verb> verbs_of(options& o) {
  return sequences::verbs_of(o, [&o](bool needs_train, bool) { return program_of(o, needs_train); });
}

}  // namespace triad::programs::cfq_sequences
