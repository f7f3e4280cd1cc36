// Reads the data sets of cognition, each in the form in which it was published.
// SPDX-License-Identifier: Apache-2.0
//
//   cognition  train, valid, test .en and .zh, words separated by spaces; cg-test.en, .zh, .compound; lexicon;
//              optionally bpe/code
//   scan       tasks_train_SPLIT.txt and tasks_test_SPLIT.txt, in the folder or in those of the published repository
//   cogs       train, dev, test and gen.tsv: sentence, logical form and kind
//   pairs      the files of cogs, with or without kinds; or a single file, and optionally a second file to test on
// Any file may be gzipped.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generate.hpp"
#include "sequences/data.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/data/text_pairs.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::cognition {

using sequences::data_set;

inline std::string const where = "docs/data.md says where the data come from";

inline std::vector<text_pair> read_languages(std::string const& folder, std::string const& name,
                                             std::string const& advice = where) {
  return read_parallel(need_file(folder, {name + ".en"}, advice), need_file(folder, {name + ".zh"}, advice));
}

/// Returns whether most targets have more than one word.
inline bool are_in_words(std::vector<text_pair> const& pairs) {
  auto const spaced = std::count_if(pairs.begin(), pairs.end(),
                                    [](text_pair const& pair) { return pair.target.find(' ') != std::string::npos; });
  return 2 * static_cast<std::size_t>(spaced) > pairs.size();
}

/// Reads CoGnition.  cg-test is a test part, and so is test unless the run is trained on it.  One third of the
/// compounds of cg-test are noun phrases, one third are verb phrases, and one third are prepositional phrases.
inline data_set read_cognition(options const& o, bool needs_train) {
  data_set d;
  bool const small = o.train_on == "valid+test";
  auto valid = read_languages(o.data, "valid"), test = read_languages(o.data, "test");
  bool const in_words = are_in_words(valid);
  if (small) {
    d.train = std::move(valid);
    d.train.insert(d.train.end(), test.begin(), test.end());
  } else {
    if (needs_train)
      d.train = read_languages(o.data, "train",
                               "without it, --train-on valid+test trains on those, which is another, smaller task");
    d.dev = std::move(valid);
    d.tests.push_back({"test", std::move(test)});
  }
  if (!find_file(o.data, {"cg-test.en"}).empty()) {
    sequences::test_part compounds{"cg-test", read_languages(o.data, "cg-test")};
    compounds.undivided = in_words && !are_in_words(compounds.pairs);
    static constexpr std::array<char const*, 3> phrases{"NP", "VP", "PP"};
    auto const n = compounds.pairs.size();
    for (std::size_t i = 0; i < n && n % (5 * phrases.size()) == 0; ++i)
      compounds.pairs[i].kind = phrases[i * phrases.size() / n];
    d.tests.push_back(std::move(compounds));
  }
  return d;
}

/// Returns the folders that may have files of SCAN: `folder`, its subfolder SPLIT_split, its other subfolders whose
/// names end in _split, and the subfolders of these.
inline std::vector<std::string> scan_folders(std::string const& folder, std::string const& split) {
  namespace fs = std::filesystem;
  std::vector<std::string> all{folder, folder + "/" + split + "_split"};
  std::set<std::string> others;
  for (auto const& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() || !entry.path().filename().string().ends_with("_split")) continue;
    others.insert(entry.path().string());
    for (auto const& inside : fs::directory_iterator(entry.path()))
      if (inside.is_directory()) others.insert(inside.path().string());
  }
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

/// Returns the file of one part of the split o.split.  If there is no such file, throws a data_error that lists the
/// available splits.
inline std::string scan_file(options const& o, std::string const& part) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(o.data)) refuse("{}: a folder is expected; {}", o.data, where);
  if (o.split.empty() || o.split.find_first_of("/\\\"'#\n") != std::string::npos)
    refuse("--split: expected the name of a split, without slashes, quotes, # or line ends, found \"{}\"", o.split);
  auto const folders = scan_folders(o.data, o.split);
  auto const begin = "tasks_" + part + "_", name = begin + o.split + ".txt";
  for (auto const& folder : folders)
    if (auto path = find_file(folder, {name}); !path.empty()) return path;
  std::set<std::string> splits;
  for (auto const& folder : folders) {
    if (!fs::is_directory(folder)) continue;
    for (auto const& entry : fs::directory_iterator(folder)) {
      auto const file = entry.path().filename().string();
      std::string_view known = file;
      if (known.ends_with(".gz")) known.remove_suffix(3);
      if (known.starts_with(begin) && known.ends_with(".txt"))
        splits.emplace(known.substr(begin.size(), known.size() - begin.size() - 4));
    }
  }
  std::string all;
  for (auto const& split : splits) all += (all.empty() ? "" : ", ") + split;
  refuse("{}: there is no {}, gzipped or not; {}", o.data, name,
         all.empty() ? where : "there are the splits " + all + ": give one of them with --split");
}

/// Divides the pairs of a split by the number of words in the target.  The pairs of d.train and of its test part that
/// have at most `cutoff` words stay there.  All others become the test part `longer`.  With the split `simple`, these
/// are the parts of R. Csordas and others (The Devil is in the Detail, 2021), except that they draw `test` themselves.
inline void divide_by_length(data_set& d, int cutoff) {
  sequences::test_part longer{"longer", {}};
  auto const is_longer = [&](text_pair const& pair) {
    return std::count(pair.target.begin(), pair.target.end(), ' ') >= cutoff;
  };
  for (auto* pairs : {&d.train, &d.tests[0].pairs}) {
    auto const first = std::stable_partition(pairs->begin(), pairs->end(), std::not_fn(is_longer));
    longer.pairs.insert(longer.pairs.end(), first, pairs->end());
    pairs->erase(first, pairs->end());
  }
  auto const expect_some = [&](std::vector<text_pair> const& pairs, char const* part, char const* other) {
    if (pairs.empty())
      refuse("--length-cutoff {}: {} has no pair, expected some; give a {} number", cutoff, part, other);
  };
  expect_some(d.train, "training", "larger");
  expect_some(d.tests[0].pairs, "test", "larger");
  expect_some(longer.pairs, "longer", "smaller");
  d.tests.push_back(std::move(longer));
}

inline data_set read_scan(options const& o, bool needs_train) {
  data_set d;
  if (needs_train || o.length_cutoff > 0) d.train = read_pairs(scan_file(o, "train"));
  d.tests.push_back({"test", read_pairs(scan_file(o, "test"))});
  if (o.length_cutoff > 0) divide_by_length(d, o.length_cutoff);
  return d;
}

inline data_set read_files(options const& o, bool needs_train) {
  data_set d;
  if (needs_train) d.train = read_pairs(o.data);
  if (!o.test.empty())
    d.tests.push_back({"test", read_pairs(o.test)});
  else if (!needs_train)
    d.tests.push_back({std::filesystem::path(o.data).filename().string(), read_pairs(o.data)});
  return d;
}

/// Throws data_error if the command line has an option that does not apply to the data that are read.
inline void check_data(options const& o) {
  bool const published = !o.data.empty();
  if (!published || o.task != "pairs" || !std::filesystem::is_regular_file(o.data))
    refuse_given(
        o, {"test"},
        "--task pairs with a file of pairs: give that file with --data; the test parts of a folder are files in it");
  if (!published || o.task != "cognition")
    refuse_given(o, {"train-on"}, "--task cognition: give that and its folder with --data, or leave it out");
  if (!published || o.task != "scan")
    refuse_given(o, {"split", "length-cutoff"}, "--task scan: give that and its folder with --data, or leave it out");
  if (published)
    refuse_given(o, {"sentences", "test-size", "data-seed"},
                 "generated commands, and --data is given, by the run perhaps: leave it out");
  refuse_other_data(o, {"sentences", "data-seed", "length-cutoff"});
}

/// Reads or generates the data that the options name.  If `needs_train`, or if o.length_cutoff moves training pairs to a
/// test part, the training part must exist.  Otherwise it is not read.  Throws data_error.
inline data_set data_of(options const& o, bool needs_train) {
  check_data(o);
  if (o.task != "pairs") need_published_data(o, "--task " + o.task);
  if (o.data.empty()) return generate_data(o);
  if (o.task == "cognition") return read_cognition(o, needs_train);
  if (o.task == "scan") return read_scan(o, needs_train);
  if (o.task == "pairs" && std::filesystem::is_regular_file(o.data)) return read_files(o, needs_train);
  return sequences::read_columns(o.data, needs_train, where);
}

}  // namespace triad::programs::cognition
